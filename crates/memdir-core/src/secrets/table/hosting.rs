//! Where source code lives.

use crate::secrets::rule::{Check, Rule, named, token};

#[rustfmt::skip] // one row a line
pub(super) const RULES: &[Rule] = &[
    token("github-pat", "GitHub personal access token", &["ghp_"], "[A-Za-z0-9]{30,50}").checked(Check::Crc32Base62),
    token("github-oauth", "GitHub OAuth token", &["gho_"], "[A-Za-z0-9]{30,50}").checked(Check::Crc32Base62),
    token("github-app-token", "GitHub app token", &["ghu_", "ghs_"], "[A-Za-z0-9]{30,50}").checked(Check::Crc32Base62),
    token("github-refresh-token", "GitHub refresh token", &["ghr_"], "[A-Za-z0-9]{30,80}").checked(Check::Crc32Base62),
    token("github-fine-grained-pat", "GitHub fine-grained token", &["github_pat_"], "[A-Za-z0-9_]{40,100}"),
    token("gitlab-pat", "GitLab personal access token", &["glpat-"], "[A-Za-z0-9_-]{20,50}(?:\\.[0-9a-z.]{2,20})?"),
    token("gitlab-deploy-token", "GitLab deploy token", &["gldt-"], "[A-Za-z0-9_-]{20,50}"),
    token("gitlab-runner-authentication-token", "GitLab runner token", &["glrt-", "glrtr-"], "(?:t[0-9]_)?[A-Za-z0-9_-]{20,50}(?:\\.[0-9a-z.]{2,20})?"),
    token("gitlab-ptt", "GitLab trigger token", &["glptt-"], "[A-Za-z0-9_-]{20,50}"),
    token("gitlab-cicd-job-token", "GitLab job token", &["glcbt-"], "[A-Za-z0-9]{1,5}_[A-Za-z0-9_-]{20,60}"),
    token("gitlab-feed-token", "GitLab feed token", &["glft-"], "[A-Za-z0-9_-]{20,64}"),
    token("gitlab-incoming-mail-token", "GitLab mail token", &["glimt-"], "[A-Za-z0-9_-]{25}"),
    token("gitlab-kubernetes-agent-token", "GitLab agent token", &["glagent-"], "[A-Za-z0-9_-]{20,64}"),
    token("gitlab-oauth-app-secret", "GitLab OAuth secret", &["gloas-"], "[A-Za-z0-9_-]{40,80}"),
    token("gitlab-scim-token", "GitLab SCIM token", &["glsoat-"], "[A-Za-z0-9_-]{20,40}"),
    token("gitlab-feature-flag-client-token", "GitLab feature flag token", &["glffct-"], "[A-Za-z0-9_-]{20,40}"),
    token("gitlab-rrt", "GitLab runner registration token", &["GR1348941"], "[A-Za-z0-9_-]{20,30}"),
    token("gitlab-session-cookie", "GitLab session cookie", &["_gitlab_session="], "[A-Za-z0-9]{32}"),
    token("bitbucket-app-password", "Bitbucket app password", &["ATBB"], "[A-Za-z0-9]{24,40}"),
    token("bitbucket-access-token", "Bitbucket access token", &["ATCTT3xFfGN0"], "[A-Za-z0-9_=-]{100,}"),
    token("atlassian-api-token", "Atlassian API token", &["ATATT3xFfGF0", "ATSTT3xFfGF0"], "[A-Za-z0-9_=-]{100,}"),
    named("atlassian-legacy-token", "Atlassian API token", &["atlassian", "jira", "confluence"], "[A-Za-z0-9]{24}"),
    named("bitbucket-client-secret", "Bitbucket client secret", &["bitbucket"], "[A-Za-z0-9_=-]{32,64}"),
    token("sourcegraph-access-token", "Sourcegraph token", &["sgp_", "sgd_", "slk_"], "(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40,64}"),
    named("gitea-token", "Gitea or Forgejo token", &["gitea", "forgejo", "codeberg"], "[a-f0-9]{40}"),
];
