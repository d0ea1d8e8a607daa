//! Plausible values for arguments: a table of words for each subject.

/// Argument names and a plausible value for each.
pub(super) type Words = &'static [(&'static str, &'static str)];

/// People and organisations.
#[rustfmt::skip]
pub(super) const PEOPLE: Words = &[
    ("owner", "octocat"), ("username", "octocat"), ("user", "octocat"), ("login", "octocat"),
    ("author", "Ada Lovelace"), ("assignee", "octocat"), ("first_name", "Ada"), ("firstname", "Ada"),
    ("last_name", "Lovelace"), ("lastname", "Lovelace"), ("full_name", "Ada Lovelace"),
    ("person", "Ada Lovelace"), ("player", "Ada Lovelace"), ("email", "ada@example.com"),
    ("recipient", "ada@example.com"), ("phone", "+14155550123"), ("nickname", "ada"), ("gender", "female"),
    ("role", "member"), ("artist", "Nina Simone"), ("company", "Example Inc."),
    ("organization", "example-org"), ("org", "example-org"), ("team", "platform"),
    ("customer", "Example Inc."), ("brand", "Example"), ("plaintiff", "Ada Lovelace"),
    ("password", "correct-horse-battery"),
];

/// The web.
#[rustfmt::skip]
pub(super) const WEB: Words = &[
    ("url", "https://example.com"), ("uri", "https://example.com"), ("link", "https://example.com"),
    ("website", "https://example.com"), ("endpoint", "https://example.com/api"),
    ("webhook", "https://example.com/hook"), ("domain", "example.com"), ("host", "example.com"),
    ("hostname", "example.com"), ("server", "example.com"), ("ip", "192.0.2.1"), ("selector", "#main"),
    ("element", "Submit button"), ("image", "https://example.com/image.png"), ("slug", "hello-world"),
    ("mime_type", "text/plain"), ("content_type", "text/plain"), ("protocol", "https"), ("method", "GET"),
    ("cursor", "eyJwYWdlIjoyfQ"), ("html", "<p>Hello</p>"), ("network", "mainnet"), ("chain", "ethereum"),
    ("wallet", "0x52908400098527886E0F7030069857D2E4169EE7"),
    ("hash", "7fd1a60b01f91b314f59955a4e4d4e80d8edf11d"), ("icon", "https://example.com/icon.png"),
    ("avatar", "https://example.com/avatar.png"), ("tld", "com"),
];

/// Files and version control.
#[rustfmt::skip]
pub(super) const FILES: Words = &[
    ("path", "docs/readme.md"), ("file", "notes.txt"), ("filename", "notes.txt"),
    ("file_name", "notes.txt"), ("directory", "docs"), ("dir", "docs"), ("folder", "docs"),
    ("repo", "hello-world"), ("repository", "hello-world"), ("branch", "main"), ("ref", "main"),
    ("base", "main"), ("head", "feature"), ("sha", "7fd1a60b01f91b314f59955a4e4d4e80d8edf11d"),
    ("commit", "7fd1a60b01f91b314f59955a4e4d4e80d8edf11d"), ("tag", "v1.0.0"), ("version", "1.0.0"),
    ("workspace", "docs"), ("extension", "txt"), ("encoding", "utf-8"), ("format", "json"),
    ("package", "serde"), ("crate", "serde"), ("pattern", "*.md"), ("glob", "**/*.md"), ("regex", "^a.*z$"),
    ("document", "readme.md"), ("presentation", "slides.pptx"),
];

/// Texts that people write.
#[rustfmt::skip]
pub(super) const TEXT: Words = &[
    ("query", "open invoices"), ("search", "open invoices"), ("q", "open invoices"), ("keyword", "invoice"),
    ("keywords", "invoice"), ("term", "invoice"), ("topic", "renewable energy"), ("title", "Weekly report"),
    ("name", "example"), ("subject", "Weekly report"), ("description", "A short description"),
    ("summary", "A short summary"), ("text", "Hello, world"), ("content", "Hello, world"),
    ("message", "Hello, world"), ("body", "Hello, world"), ("comment", "Looks good to me"),
    ("note", "Remember the milk"), ("prompt", "Write a haiku about spring"),
    ("question", "What is the capital of France?"), ("answer", "Paris"), ("reason", "No longer needed"),
    ("thought", "First, list what is known"), ("problem", "The build fails on Tuesdays"),
    ("input", "Hello, world"), ("string", "hello"), ("label", "bug"), ("category", "general"),
    ("type", "standard"), ("status", "open"), ("state", "open"), ("priority", "high"), ("field", "title"),
    ("property", "title"), ("key", "example_key"), ("value", "example"), ("sort", "created"),
    ("order", "asc"), ("action", "list"), ("operation", "list"), ("mode", "default"), ("style", "modern"),
    ("language", "en"), ("lang", "en"), ("locale", "en-US"), ("color", "blue"), ("colour", "blue"),
    ("book", "Middlemarch"), ("project", "apollo"), ("task", "Write the report"), ("event", "Team meeting"),
    ("data", "example"), ("group", "engineering"), ("nick", "ada"), ("option", "default"),
    ("context", "The user plans a trip"), ("quarter", "Q1"), ("case", "CASE-42"), ("source", "web"),
];

/// Programs and databases.
#[rustfmt::skip]
pub(super) const CODE: Words = &[
    ("sql", "SELECT 1"), ("statement", "SELECT 1"), ("command", "ls -la"), ("cmd", "ls -la"),
    ("code", "print('hello')"), ("script", "print('hello')"), ("expression", "2 * (3 + 4)"),
    ("equation", "x^2 - 4 = 0"), ("function", "x^2"), ("variable", "x"), ("database", "app"), ("db", "app"),
    ("table", "users"), ("column", "id"), ("collection", "users"), ("schema", "public"),
    ("namespace", "default"), ("container", "web"), ("pod", "web-0"), ("cluster", "main"),
    ("service", "web"), ("model", "small"), ("bucket", "reports"), ("index", "main"),
    ("token", "example-token"), ("secret", "example-secret"), ("api_key", "example-key"),
    ("apikey", "example-key"), ("access_key", "example-key"), ("region", "eu-central-1"),
    ("environment", "staging"), ("env", "staging"), ("filter", "status:open"), ("json", "{}"),
    ("base64", "SGVsbG8="), ("uuid", "3f2b8c1e-9d4a-4f6b-8a7c-1e2d3c4b5a69"),
    ("guid", "3f2b8c1e-9d4a-4f6b-8a7c-1e2d3c4b5a69"),
];

/// Places, money, time and things.
#[rustfmt::skip]
pub(super) const WORLD: Words = &[
    ("city", "Berlin"), ("location", "Berlin"), ("place", "Berlin"), ("country", "Germany"),
    ("country_code", "DE"), ("origin", "Berlin"), ("destination", "Paris"), ("from", "Berlin"),
    ("to", "Paris"), ("address", "1 Main Street, Springfield"), ("street", "1 Main Street"),
    ("zip", "94105"), ("zipcode", "94105"), ("postcode", "94105"), ("postal_code", "94105"),
    ("airport", "BER"), ("station", "Berlin Hbf"), ("county", "Kent"), ("coordinates", "52.52,13.405"),
    ("currency", "USD"), ("symbol", "AAPL"), ("ticker", "AAPL"), ("stock", "AAPL"), ("coin", "bitcoin"),
    ("crypto", "bitcoin"), ("exchange", "NASDAQ"), ("unit", "metric"), ("units", "metric"),
    ("cik", "0000320193"), ("isbn", "9780141439549"), ("date", "2026-01-15"), ("day", "2026-01-15"),
    ("time", "09:30"), ("datetime", "2026-01-15T09:30:00Z"), ("date_time", "2026-01-15T09:30:00Z"),
    ("timestamp", "2026-01-15T09:30:00Z"), ("since", "2026-01-01T00:00:00Z"),
    ("until", "2026-01-31T00:00:00Z"), ("start", "2026-01-15"), ("end", "2026-01-31"),
    ("from_date", "2026-01-15"), ("to_date", "2026-01-31"), ("start_date", "2026-01-15"),
    ("end_date", "2026-01-31"), ("start_time", "2026-01-15T09:30:00Z"),
    ("end_time", "2026-01-15T10:30:00Z"), ("month", "January"), ("year", "2026"),
    ("timezone", "Europe/Berlin"), ("time_zone", "Europe/Berlin"), ("period", "1d"), ("interval", "1d"),
    ("timeframe", "1d"), ("duration", "1h"), ("species", "Quercus robur"), ("ingredient", "tomato"),
    ("recipe", "lasagne"), ("cuisine", "Italian"), ("genre", "jazz"), ("song", "Feeling Good"),
    ("movie", "Metropolis"), ("game", "chess"), ("sport", "football"), ("league", "Premier League"),
    ("season", "2025"), ("animal", "cat"), ("material", "steel"), ("substance", "water"),
    ("product", "notebook"), ("item", "notebook"), ("sequence", "ATGCGT"), ("size", "medium"),
    ("shape", "circle"), ("instrument", "piano"), ("language_code", "en"), ("fromdate", "2026-01-15"),
    ("todate", "2026-01-31"), ("until_date", "2026-01-31"),
];

/// Formats of JSON Schema and OpenAPI.
#[rustfmt::skip]
pub(super) const FORMATS: Words = &[
    ("date-time", "2026-01-15T09:30:00Z"), ("date", "2026-01-15"), ("time", "09:30:00Z"),
    ("duration", "PT1H"), ("email", "ada@example.com"), ("idn-email", "ada@example.com"),
    ("hostname", "example.com"), ("idn-hostname", "example.com"), ("ipv4", "192.0.2.1"),
    ("ipv6", "2001:db8::1"), ("uri", "https://example.com"), ("url", "https://example.com"),
    ("iri", "https://example.com"), ("uri-reference", "/docs"), ("iri-reference", "/docs"),
    ("uri-template", "/tasks/{id}"), ("uuid", "3f2b8c1e-9d4a-4f6b-8a7c-1e2d3c4b5a69"),
    ("json-pointer", "/name"), ("relative-json-pointer", "0/name"), ("regex", "^a.*z$"),
    ("snowflake", "175928847299117063"), ("byte", "SGVsbG8="), ("binary", "SGVsbG8="),
    ("timezone", "Europe/Berlin"), ("json", "{}"),
];

/// Numbers.
#[rustfmt::skip]
pub(super) const NUMBERS: &[(&str, f64)] = &[
    ("limit", 10.0), ("page", 1.0), ("per_page", 10.0), ("page_size", 10.0), ("page_number", 1.0),
    ("offset", 0.0), ("count", 10.0), ("top", 10.0), ("size", 10.0), ("results", 10.0), ("index", 0.0),
    ("idx", 0.0), ("depth", 2.0), ("number", 42.0), ("id", 123.0), ("lat", 52.52), ("latitude", 52.52),
    ("lon", 13.405), ("lng", 13.405), ("long", 13.405), ("longitude", 13.405), ("year", 2026.0),
    ("month", 6.0), ("day", 15.0), ("days", 7.0), ("hour", 9.0), ("hours", 8.0), ("minute", 30.0),
    ("minutes", 30.0), ("seconds", 30.0), ("timeout", 30.0), ("timestamp", 1_768_469_400.0), ("years", 5.0),
    ("months", 12.0), ("weeks", 2.0), ("nights", 3.0), ("age", 30.0), ("price", 19.99), ("amount", 100.0),
    ("cost", 19.99), ("budget", 500.0), ("salary", 50_000.0), ("income", 50_000.0), ("balance", 1_000.0),
    ("principal", 10_000.0), ("investment", 10_000.0), ("rate", 0.05), ("percent", 10.0),
    ("percentage", 10.0), ("probability", 0.5), ("threshold", 0.5), ("confidence", 0.9),
    ("temperature", 20.0), ("humidity", 60.0), ("pressure", 101.3), ("radius", 5.0), ("distance", 10.0),
    ("width", 800.0), ("height", 600.0), ("length", 10.0), ("weight", 70.0), ("mass", 5.0), ("speed", 20.0),
    ("velocity", 20.0), ("acceleration", 9.8), ("quantity", 2.0), ("port", 8080.0), ("x", 10.0),
    ("y", 20.0), ("z", 5.0), ("a", 2.0), ("b", 3.0), ("c", 1.0), ("n", 5.0), ("min", 1.0), ("max", 100.0),
    ("start", 1.0), ("end", 10.0), ("from", 1.0), ("to", 10.0), ("rating", 4.0), ("score", 4.0),
    ("level", 1.0), ("adults", 2.0), ("children", 1.0), ("bedrooms", 2.0), ("guests", 2.0),
    ("version", 1.0), ("zoom", 12.0), ("volume", 50.0), ("angle", 45.0), ("duration", 30.0),
    ("interval", 60.0), ("step", 1.0), ("seed", 42.0), ("century", 19.0), ("season", 2025.0), ("line", 1.0),
    ("column", 1.0), ("row", 1.0), ("status", 200.0), ("iterations", 10.0), ("total", 5.0),
    ("thought_number", 1.0), ("total_thoughts", 5.0), ("next", 2.0), ("quality", 80.0), ("scale", 1.0),
    ("population", 1_000.0),
];
