//! Mail, text messages and marketing.

use crate::secrets::rule::{Rule, named, pattern, token};

#[rustfmt::skip] // one row a line
pub(super) const RULES: &[Rule] = &[
    token("sendgrid-api-token", "SendGrid key", &["SG."], "[A-Za-z0-9_-]{18,26}\\.[A-Za-z0-9_-]{38,48}"),
    token("mailgun-private-api-token", "Mailgun key", &["key-"], "[a-f0-9]{32}"),
    pattern("mailgun-signing-key", "Mailgun signing key", &["mailgun"], (0, 140), r"(?i:mailgun)[^\n]{0,60}?([a-f0-9]{32}-[a-f0-9]{8}-[a-f0-9]{8})"),
    pattern("mailchimp-api-key", "Mailchimp key", &["-us"], (32, 4), r"\b([a-f0-9]{32}-us[0-9]{1,2})\b"),
    token("mandrill-api-key", "Mandrill key", &["md-"], "[A-Za-z0-9_-]{22}"),
    token("sendinblue-api-token", "Brevo key", &["xkeysib-", "xsmtpsib-"], "[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    token("resend-api-key", "Resend key", &["re_"], "[A-Za-z0-9]{6,12}_[A-Za-z0-9]{18,30}"),
    named("postmark-token", "Postmark token", &["postmark"], "[0-9a-f]{8}-[0-9a-f-]{27}"),
    named("sparkpost-api-key", "SparkPost key", &["sparkpost"], "[a-f0-9]{40}"),
    token("twilio-api-key", "Twilio key", &["SK"], "[a-f0-9]{32}"),
    token("mailersend-api-token", "MailerSend token", &["mlsn."], "[a-f0-9]{60,72}"),
    token("klaviyo-api-key", "Klaviyo key", &["pk_"], "[a-f0-9]{34}"),
    named("twilio-auth-token", "Twilio auth token", &["twilio"], "[a-f0-9]{32}"),
    named("vonage-api-secret", "Vonage secret", &["vonage", "nexmo"], "[A-Za-z0-9]{16}"),
    named("messagebird-api-token", "MessageBird key", &["messagebird"], "[A-Za-z0-9]{25}"),
    named("sendbird-access-token", "Sendbird token", &["sendbird"], "[a-f0-9]{40}"),
    named("intercom-api-key", "Intercom token", &["intercom"], "[A-Za-z0-9=_-]{60}"),
    named("hubspot-api-key", "HubSpot key", &["hubspot"], "[0-9a-f]{8}-[0-9a-f-]{27}"),
    token("hubspot-private-app-token", "HubSpot private app token", &["pat-na1-", "pat-na2-", "pat-eu1-"], "[0-9a-f]{8}-[0-9a-f-]{27}"),
    named("zendesk-secret-key", "Zendesk secret", &["zendesk"], "[A-Za-z0-9]{40}"),
    named("beamer-api-token", "Beamer token", &["beamer"], "b_[A-Za-z0-9=_-]{44}"),
    named("onesignal-api-key", "OneSignal key", &["onesignal"], "[A-Za-z0-9]{48}|os_v2_[A-Za-z0-9_]{60,120}"),
    pattern("fcm-server-key", "Firebase messaging server key", &[":APA91"], (12, 150), r"([A-Za-z0-9_-]{11}:APA91[A-Za-z0-9_-]{120,})"),
    named("pusher-secret", "Pusher secret", &["pusher"], "[a-f0-9]{20}"),
    pattern("google-app-password", "Google app password", &["app password", "app-password", "app_password", "smtp"], (0, 90), r#"(?i)app[ _-]?password[^\n]{0,24}?[ =:'"`]([a-z]{4} [a-z]{4} [a-z]{4} [a-z]{4})\b"#),
];
