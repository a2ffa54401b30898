//! Classes of words that patterns name with `@`.

/// Returns the words of a class; each entry holds words with a space between them.
pub(in super::super) fn class(name: &str) -> &'static [&'static str] {
    CLASSES.iter().find(|(known, _)| *known == name).map_or(&[], |(_, words)| words)
}

const CLASSES: &[(&str, &[&str])] = &[
    ("system", SYSTEMS),
    ("part", PARTS),
    ("verb", VERBS),
    ("verbing", VERBING),
    ("role", ROLES),
    ("rolle", ROLES_GERMAN),
    ("owntool", OWN_TOOLS),
    ("reply", REPLIES),
    (
        "habit",
        &[
            "use write keep run name format prefer test commit squash rebase deploy log avoid put document review pin follow \
         spell indent tag store return wrap mock stick require never don't always only",
        ],
    ),
    (
        "occasion",
        &[
            "pushing committing merging releasing deploying adding changing writing creating editing touching renaming removing \
         updating refactoring reviewing opening submitting naming testing implementing fixing upgrading bumping migrating \
         logging handling modifying introducing designing generating building shipping publishing",
        ],
    ),
    (
        "act",
        &[
            "reply answer respond summarize summarise explain write ask propose suggest finish start change edit refactor \
         commit touch delete create add run make show quote repeat apologize apologise guess assume plan review",
        ],
    ),
    ("did", &["did didn't do don't does"]),
    (
        "others",
        &[
            "client customer customers publisher bank board vendor council insurer regulator legal sales marketing management \
         carrier authority city partner investors investor founder dean museum railway hospital hospitals procurement finance \
         company government ministry university agency funder manufacturer provider auditors auditor it union landlord \
         supplier owner sponsor ceo cfo cto apple google nintendo",
        ],
    ),
    (
        "verbs",
        &[
            "logs checks reads writes simulates converts turns shows runs keeps holds takes sends gets makes gives uses loads \
         stores builds renders parses validates computes handles hands passes pushes pulls picks flips falls looks forwards \
         starts stops waits listens schedules collects generates imports exports accepts produces returns serves watches \
         tracks measures controls connects maps fetches splits merges compiles verifies signs encrypts decrypts compares \
         updates deletes creates opens closes calls queries posts streams buffers batches reminds reports monitors plays \
         records syncs translates formats lints tests deploys wraps resolves emits polls publishes subscribes consumes",
        ],
    ),
    (
        "nounverb",
        &[
            "import export release test build commit log plan report index model type design load query cache request review \
         update upgrade sync schedule batch stream route target order group note end start work stage cover scope style \
         comment document hash lock pin mark link reference display profile benchmark measure store check call name format \
         mock stub seed tag bump drop copy return limit cap look answer reply show archive fork clone download upload switch \
         turn clean land sign ship aim default favor launch wait try set read push pull merge feature-flag guard gate back",
        ],
    ),
    (
        "function",
        &[
            "the a an all every each any your our my its it them this that these those only new both no one two in on to with \
         before after from for by at up out off into through via over me us not never always and as if when what how which \
         everything anything nothing something whether until against between first again back down away twice once",
        ],
    ),
    ("befehl", BEFEHLE),
    ("infinitiv", INFINITIVE),
    ("be", &["am is are was were be been being isn't aren't wasn't weren't"]),
    (
        "month",
        &[
            "january february march april may june july august september october november december jan feb mar apr jun jul \
         aug sep sept oct nov dec januar februar märz mai juni juli oktober dezember",
        ],
    ),
    (
        "weekday",
        &[
            "monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag samstag \
         sonntag",
        ],
    ),
];

/// Systems that hold what a repository does not: trackers, boards, chats, wikis, monitors.
const SYSTEMS: &[&str] = &[
    "linear jira asana trello clickup youtrack shortcut basecamp monday.com redmine zendesk intercom freshdesk servicenow",
    "slack discord teams mattermost zulip telegram",
    "notion confluence wiki sharepoint coda quip miro figma figjam zeplin excalidraw lucidchart airtable",
    "grafana datadog kibana splunk sentry pagerduty opsgenie newrelic honeycomb prometheus looker metabase tableau amplitude \
     mixpanel posthog cloudwatch rollbar bugsnag statuspage superset redash",
    "1password bitwarden lastpass keepass launchdarkly",
    "jenkins circleci buildkite teamcity argocd sonarqube snyk dependabot artifactory nexus",
    "salesforce hubspot stripe google-docs gdocs gdrive dropbox onedrive gerrit gitlab bitbucket phabricator storybook \
     chromatic swaggerhub postman backstage",
    "컨플루언스 컨플루언스에 지라 지라에 슬랙 노션 그라파나 센트리 피그마 데이터독 위키",
    "지라* 슬랙* 노션* 그라파나* 센트리* 피그마* 데이터독* 위키* 컨플루언스* 리니어* 키바나* 젠킨스*",
];

/// Parts that systems are made of.
const PARTS: &[&str] = &[
    "worker workers service services gateway queue queues frontend backend client clients server servers database db cache \
     scheduler broker proxy daemon cli api apis endpoint endpoints handler handlers controller controllers middleware \
     module modules layer layers pipeline pipelines bus topic topics consumer consumers producer producers store storage \
     bucket index indexer parser renderer engine agent plugin plugins microservice microservices monolith router loader \
     ingester collector crawler webhook webhooks cron job jobs processor dispatcher orchestrator registry event events \
     adapter adapters component components subsystem replica shard shards lambda spa ui dashboard-service core crate \
     crates package packages process processes thread threads repository-layer orm websocket sidecar",
    "redis postgres postgresql mysql sqlite mongodb kafka rabbitmq nats sqs sns s3 dynamodb elasticsearch opensearch \
     clickhouse bigquery snowflake nginx envoy memcached grpc graphql celery sidekiq kinesis pubsub minio etcd consul",
    "dienst dienste warteschlange datenbank schnittstelle komponente komponenten schicht schichten modul module speicher \
     zwischenspeicher knoten server-prozess prozess ereignis ereignisse",
    "*service *dienst *worker *gateway *server *queue *datenbank *prozess *schicht",
    "워커* 서비스* 게이트웨이* 큐* 프론트엔드* 백엔드* 클라이언트* 서버* 데이터베이스* 캐시* 스케줄러* 브로커* 프록시* 핸들러* 모듈* \
     계층* 레이어* 파이프라인* 컨슈머* 프로듀서* 스토리지* 저장소* 이벤트* 토픽* 컴포넌트* 미들웨어* 컨트롤러* 엔진* 에이전트* 작업* 레디스* \
     카프카* 포스트그레스* db* redis* postgres* kafka* s3* api*",
];

/// Base forms that open an instruction.
const VERBS: &[&str] = &[
    "use run add keep write put make prefer avoid ensure check verify call call name format lint test commit push pull \
     merge rebase squash deploy release tag bump update upgrade install create delete remove drop rename move copy \
     replace return throw raise catch handle log print document comment annotate mark wrap validate sanitize escape \
     quote encode parse serialize cache retry set unset enable disable configure define declare export import include \
     exclude extend implement inherit override mock stub fake seed migrate generate regenerate rebuild build compile \
     bundle start stop restart reuse refactor split extract inline group sort order limit cap restrict allow forbid \
     treat follow stick adhere respect obey read review approve request ask tell inform notify report open close link \
     refer reference cite see look consult note remember mind watch beware assume expect require do let give get go \
     take leave skip ignore stay hold pass send store save load fetch query index assign pick choose select start \
     begin end finish complete work stage cover assert pin lock encrypt hash rotate scope prefix suffix spell translate \
     localize render style align indent separate capitalise capitalize abbreviate register bind attach detach mount \
     document describe explain summarize summarise answer reply respond show display hide provide propose suggest \
     confirm double-check re-run rerun fix debug profile benchmark measure route batch stream publish subscribe \
     escalate coordinate sync schedule plan back gate guard feature-flag backport cherry-pick rely depend aim favor \
     favour default treat avoid type model design structure organize organise target ship land sign apply clean clear \
     flush reset turn switch convert try wait invoke execute launch archive clone fork download upload",
];

/// German imperatives.
const BEFEHLE: &[&str] = &[
    "verwende verwendet nutze nutz nutzt benutze benutzt führe schreibe schreib schreibt halte halt achte achtet lege leg \
     prüfe prüft teste testet starte startet füge baue benenne formatiere lösche ändere änder committe pushe merge merge \
     dokumentiere vermeide vermeidet setze setz stelle stell sorge sorgt lass lasse gib nimm nehmt mach mache macht \
     beachte beachtet folge befolge erstelle erzeuge importiere exportiere rufe ruf frage frag antworte antwort erkläre \
     zeige zeig sag sage fasse fass bleib bleibe trenne kapsle validiere sortiere ersetze entferne aktualisiere ziehe \
     generiere bestätige melde meld warte behandle logge speichere öffne schließe denk denke merk merke vergiss hol hole \
     spring überspringe ignoriere lies schau versuche spare verzichte kommentiere übersetze begründe packe reduziere",
];

/// German infinitives that end an instruction.
const INFINITIVE: &[&str] = &[
    "verwenden nutzen benutzen ausführen schreiben halten achten legen ablegen prüfen testen starten hinzufügen bauen \
     benennen formatieren löschen ändern committen pushen mergen dokumentieren vermeiden setzen stellen sicherstellen \
     sorgen lassen geben nehmen machen beachten folgen befolgen erstellen erzeugen importieren exportieren aufrufen \
     fragen antworten erklären zeigen zusammenfassen bleiben trennen kapseln validieren sortieren ersetzen entfernen \
     aktualisieren generieren bestätigen melden warten behandeln loggen speichern öffnen schließen kommentieren \
     übersetzen begründen reduzieren laufen einhalten umbenennen anpassen einbinden eintragen pflegen updaten taggen \
     releasen deployen ausrollen reviewen freigeben mocken verzichten durchführen abfangen werfen zurückgeben \
     einrücken großschreiben kleinschreiben nachfragen anfassen bearbeiten abgleichen mitliefern anlegen wiederholen \
     rebasen squashen installieren konfigurieren migrieren mitschicken abschließen einchecken hochziehen anhängen \
     verschieben aufteilen auslagern kürzen umbrechen",
];

/// What somebody is in the middle of.
const VERBING: &[&str] = &[
    "editing fixing debugging refactoring writing rewriting testing running implementing adding removing renaming moving \
     updating reviewing reading checking investigating looking working trying building migrating porting cleaning \
     finishing starting waiting porting wiring extracting splitting bumping rebasing merging exploring tracing tweaking \
     converting replacing going rerunning profiling stepping",
];

/// What people are.
const ROLES: &[&str] = &[
    "engineer developer dev scientist analyst designer manager lead architect student researcher founder cto ceo admin \
     administrator sre consultant freelancer contractor intern teacher professor maintainer programmer tester qa \
     owner writer statistician physicist biologist economist journalist lawyer accountant beginner newcomer novice \
     expert veteran specialist generalist hobbyist head director vp principal staff devops bioinformatician \
     mathematician chemist doctor nurse marketer salesperson product-manager pm po freelance librarian trainer",
];

const ROLES_GERMAN: &[&str] = &[
    "entwickler entwicklerin ingenieur ingenieurin wissenschaftler wissenschaftlerin analystin designerin leiter leiterin \
     architekt architektin student studentin forscher forscherin gründer gründerin berater beraterin praktikant \
     praktikantin lehrer lehrerin professorin programmierer programmiererin tester testerin anfänger anfängerin neuling \
     experte expertin spezialist spezialistin werkstudent werkstudentin informatiker informatikerin physiker physikerin \
     mathematiker mathematikerin teamleiter teamleiterin projektleiter projektleiterin verantwortlicher verantwortliche \
     datenanalyst datenanalystin administratorin produktmanager produktmanagerin",
    "*entwickler *entwicklerin *ingenieur *ingenieurin *wissenschaftler *wissenschaftlerin *architekt *architektin \
     *leiter *leiterin *berater *beraterin *analyst *analystin *manager *managerin *student *studentin *forscher \
     *forscherin *designer *admin *trainer *redakteur *redakteurin *anfänger *anfängerin *expertin *experte",
];

/// What people choose for themselves.
const OWN_TOOLS: &[&str] = &[
    "vim neovim nvim emacs helix vscode cursor intellij webstorm pycharm zed sublime tmux zsh fish bash powershell iterm \
     wezterm alacritty kitty ghostty macos linux windows arch ubuntu nixos keyboard editor terminal shell ide monitor \
     laptop dvorak colemak dark-mode",
];

/// What an agent says and makes while it works.
const REPLIES: &[&str] = &[
    "reply replies answer answers response responses summary summaries explanation explanations recap recaps message \
     messages output outputs diff diffs suggestion suggestions proposal proposals plan plans wording tone emoji emojis \
     bullet bullets preamble apology apologies chat follow-up follow-ups disclaimer disclaimers caveats filler jargon",
    "antwort antworten zusammenfassung zusammenfassungen erklärung erklärungen nachricht nachrichten vorschlag vorschläge \
     ausgabe ausgaben rückfrage rückfragen ton emojis einleitung entschuldigung entschuldigungen floskeln",
];
