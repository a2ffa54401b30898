//! Chat and social networks.

use crate::secrets::rule::{Rule, named, pattern, token};

#[rustfmt::skip] // one row a line
pub(super) const RULES: &[Rule] = &[
    token("slack-bot-token", "Slack bot token", &["xoxb-"], "[0-9]{8,14}-[A-Za-z0-9-]{16,60}"),
    token("slack-user-token", "Slack user token", &["xoxp-"], "[0-9]{8,14}-[A-Za-z0-9-]{24,90}"),
    token("slack-app-token", "Slack app token", &["xapp-"], "[0-9]-[A-Z0-9]{8,14}-[0-9]{8,16}-[a-f0-9]{40,80}"),
    token("slack-legacy-token", "Slack legacy token", &["xoxo-", "xoxs-"], "[0-9]{8,14}-[A-Za-z0-9-]{16,90}"),
    token("slack-legacy-workspace-token", "Slack workspace token", &["xoxa-", "xoxr-"], "(?:[0-9]-)?[A-Za-z0-9-]{16,90}"),
    token("slack-config-access-token", "Slack configuration token", &["xoxe.xoxp-", "xoxe.xoxb-"], "[0-9]-[A-Za-z0-9]{100,}"),
    token("slack-config-refresh-token", "Slack refresh token", &["xoxe-"], "[0-9]-[A-Za-z0-9]{100,}"),
    token("slack-session-cookie", "Slack session", &["xoxd-", "xoxc-"], "[A-Za-z0-9%+/=-]{40,}"),
    pattern("slack-webhook-url", "Slack webhook", &["hooks.slack.com/"], (0, 120), r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Z0-9]{8,12}/[A-Z0-9]{8,20}/[A-Za-z0-9/]{16,60})"),
    token("discord-api-token", "Discord bot token", &["MTA", "MTE", "MTI", "MTM", "MTQ", "MTU", "MTY", "MTc", "MTg", "MTk"], "[A-Za-z0-9_-]{19,27}\\.[A-Za-z0-9_-]{6,7}\\.[A-Za-z0-9_-]{27,40}"),
    pattern("discord-bot-token", "Discord bot token", &["discord"], (0, 160), r"(?i:discord)[^\n]{0,60}?\b([MNO][A-Za-z0-9_-]{22,28}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27,40})\b"),
    pattern("discord-webhook-url", "Discord webhook", &["/api/webhooks/"], (0, 120), r"/api/webhooks/([0-9]{15,21}/[A-Za-z0-9_-]{40,90})"),
    named("discord-client-secret", "Discord client secret", &["discord"], "[A-Za-z0-9_-]{32}"),
    pattern("telegram-bot-api-token", "Telegram bot token", &[":AA"], (12, 40), r"([0-9]{7,12}:AA[A-Za-z0-9_-]{31,35})"),
    pattern("microsoft-teams-webhook", "Microsoft Teams webhook", &["webhook.office.com/", "outlook.office.com/webhook"], (0, 200), r"office\.com/webhook(?:b2)?/([0-9a-f-]{36}@[0-9a-f-]{36}/[A-Za-z]+/[a-f0-9]{32}/[0-9a-f-]{36})"),
    pattern("zapier-webhook-url", "Zapier webhook", &["hooks.zapier.com/"], (0, 60), r"hooks\.zapier\.com/hooks/catch/([0-9]{4,12}/[a-z0-9]{5,12})"),
    pattern("make-webhook-url", "Make webhook", &[".make.com/", ".integromat.com/"], (12, 50), r"hook\.[a-z0-9.]*(?:make|integromat)\.com/([a-z0-9]{28,36})"),
    pattern("ifttt-webhook-url", "IFTTT webhook", &["maker.ifttt.com/"], (0, 100), r"maker\.ifttt\.com/trigger/[A-Za-z0-9_-]+/(?:json/)?with/key/([A-Za-z0-9_-]{20,50})"),
    pattern("google-chat-webhook", "Google Chat webhook", &["chat.googleapis.com/"], (0, 220), r"chat\.googleapis\.com/v1/spaces/[A-Za-z0-9_-]+/messages\?key=[A-Za-z0-9_-]+&token=([A-Za-z0-9_%-]{20,80})"),
    named("mattermost-access-token", "Mattermost token", &["mattermost"], "[a-z0-9]{26}"),
    token("facebook-page-access-token", "Facebook access token", &["EAAG", "EAAC", "EAAM", "EAAB", "EAAH"], "[A-Za-z0-9]{80,}"),
    named("facebook-secret", "Facebook app secret", &["facebook", "fb_", "meta"], "[a-f0-9]{32}"),
    token("instagram-access-token", "Instagram token", &["IGQV", "IGAA"], "[A-Za-z0-9_-]{80,}"),
    token("twitter-bearer-token", "X bearer token", &["AAAAAAAAAAAAAAAAAAAAA"], "[A-Za-z0-9%]{50,120}"),
    named("twitter-api-secret", "X API secret", &["twitter", "tweet"], "[A-Za-z0-9]{25}|[A-Za-z0-9]{50}"),
    named("twitter-access-token", "X access token", &["twitter", "tweet"], "[0-9]{10,20}-[A-Za-z0-9]{20,40}"),
    named("linkedin-client-secret", "LinkedIn secret", &["linkedin"], "[A-Za-z0-9]{16}|WPL_AP1\\.[A-Za-z0-9.=+/]{20,60}"),
    named("twitch-api-token", "Twitch token", &["twitch"], "(?:oauth:)?[a-z0-9]{30}"),
    named("reddit-client-secret", "Reddit secret", &["reddit"], "[A-Za-z0-9_-]{27,30}"),
    named("spotify-client-secret", "Spotify secret", &["spotify"], "[a-f0-9]{32}"),
    token("matrix-access-token", "Matrix access token", &["syt_"], "[A-Za-z0-9=]{4,60}_[A-Za-z]{20}_[A-Za-z0-9]{6}"),
];
