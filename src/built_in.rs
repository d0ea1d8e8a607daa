//! The files that users may copy and edit: `templates/` and `workspace-template/`, embedded.

use toolcrib_definition::embedded_files;
use toolcrib_render::BuiltIn;

/// The built-in templates and the built-in workspace template.
pub const BUILT_IN: BuiltIn = BuiltIn {
    templates: &embedded_files! { "templates":
        "assets/icon.svg",
        "assets/site.css",
        "assets/site.js",
        "docs/index.md",
        "docs/page.md",
        "docs/tool.md",
        "prompt/gateway-with-tools.md",
        "prompt/discovery.md",
        "prompt/files.md",
        "prompt/full.md",
        "prompt/gateway.md",
        "prompt/hybrid.md",
        "prompt/native.md",
        "site/approval.html",
        "site/approvals.html",
        "site/base.html",
        "site/category.html",
        "site/connect.html",
        "site/costs.html",
        "site/event.html",
        "site/findings.html",
        "site/home.html",
        "site/list.html",
        "site/missing.html",
        "site/parts.html",
        "site/profile.html",
        "site/profiles.html",
        "site/rows.html",
        "site/search.html",
        "site/servers.html",
        "site/session.html",
        "site/sessions.html",
        "site/sign_in.html",
        "site/modes.html",
        "site/tool.html",
        "site/tree.html",
        "site/try.html",
        "site/usage.html",
    },
    workspace: &embedded_files! { "workspace-template": "AGENTS.md" },
};
