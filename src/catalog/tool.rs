//! One checked tool: its facts, which lists and selectors need, and its content, which may still lie in a bundle.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Parameters, ToolArgument};
use crate::bundle::Bundle;
use crate::config::Facts;
use crate::finding::Place;
use crate::tool::{
    CategoryPath, Definition, DescriptionMode, Effect, Example, NoSchemaMode, Policy, WhenForbidden,
};

/// One checked tool. Its fields are what every list of tools needs; it derefs to its [`ToolContent`], which a tool of a
/// bundle reads at its first use.
#[derive(Debug, Serialize, Deserialize)]
pub struct Tool {
    /// Canonical name, unique in the catalog.
    pub name: String,
    /// The name of its doc file and of the function that providers see.
    pub safe_name: String,
    /// The dotted name in the gateway, unique in the catalog.
    pub op: String,
    /// Other names that resolve to it and to no other tool.
    pub aliases: Vec<String>,
    /// Its categories; never empty.
    pub categories: Vec<CategoryPath>,
    /// When to use the tool, in one line within the cap; never empty.
    pub short: String,
    /// Strongest change that a call may make.
    pub effect: Effect,
    /// The server it belongs to.
    pub server: Option<String>,
    /// Place of the definition; the file is relative to the catalog.
    pub place: Place,
    /// Text that the operator has to write before the program of the definition is run; `None` when nothing was
    /// removed.
    pub withheld: Option<String>,
    /// The facts of its definition that decide who sees the tool and how much of it.
    pub(super) written: WrittenFacts,
    /// The hash of its content.
    #[serde(skip)]
    pub(super) digest: OnceLock<Digest>,
    #[serde(skip)]
    pub(super) content: LazyContent,
}

/// The hash of the content of a tool.
pub(super) type Digest = [u8; 32];

/// The facts of a definition that decide who sees its tool and how much of it, as they are written there.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct WrittenFacts {
    pub(super) name: String,
    pub(super) tags: Vec<String>,
    pub(super) allowed_roles: Vec<String>,
    pub(super) when_forbidden: Option<WhenForbidden>,
    pub(super) description_mode: Option<DescriptionMode>,
    pub(super) shifts_context: bool,
    pub(super) wants_approval: bool,
    /// Bytes of its description and of the schema of its arguments.
    pub(super) bytes: usize,
}

/// Everything of a tool that only its readers and callers need.
#[derive(Debug)]
pub struct ToolContent {
    /// The whole description, cleaned.
    pub description: String,
    /// The description without its text about arguments, when the schema says the same of each.
    pub without_arguments: Option<String>,
    /// The description without the parts that have fields of their own: arguments, returns, examples.
    pub long: String,
    /// Description of the result, in words.
    pub returns: Option<String>,
    /// Errors that a call may end in, in the author's words.
    pub raises: Vec<String>,
    /// Behaviour worth knowing.
    pub notes: Vec<String>,
    /// Examples that fit the schema.
    pub examples: Vec<Example>,
    /// Examples that the author wrote as text.
    pub example_texts: Vec<String>,
    /// When to use it and when not to.
    pub policy: Option<Policy>,
    /// The schema of its arguments, checked.
    pub parameters: Parameters,
    /// Arguments of a complete, valid call; `None` when none could be made.
    pub call: Option<Map<String, Value>>,
    /// Pointers to the values of that call that are invented.
    pub fill_in: Vec<String>,
    /// The definition as its author wrote it, with overlays applied, without a program that it may not name.
    pub definition: Definition,
    /// Arguments whose values the operator sets.
    pub set_arguments: Vec<ToolArgument>,
}

/// The content of a tool, in memory or still in a bundle.
#[derive(Debug, Default)]
pub(super) struct LazyContent {
    read: OnceLock<Box<ToolContent>>,
    stored: Option<StoredContent>,
}

/// The part of a bundle that holds the content of a tool.
#[derive(Clone, Debug)]
pub(super) struct StoredContent {
    pub(super) bundle: Arc<Bundle>,
    pub(super) part: usize,
}

impl LazyContent {
    /// Content in a bundle.
    pub(super) fn stored(bundle: &Arc<Bundle>, part: usize) -> Self {
        Self { read: OnceLock::new(), stored: Some(StoredContent { bundle: Arc::clone(bundle), part }) }
    }

    fn get(&self) -> &ToolContent {
        self.read.get_or_init(|| Box::new(self.read_stored()))
    }

    fn read_stored(&self) -> ToolContent {
        self.stored.as_ref().map_or_else(ToolContent::unreadable, StoredContent::read)
    }
}

impl From<ToolContent> for LazyContent {
    fn from(content: ToolContent) -> Self {
        Self { read: OnceLock::from(Box::new(content)), stored: None }
    }
}

impl WrittenFacts {
    pub(super) fn of(definition: &Definition, description: &str) -> Self {
        let schema = definition.parameters.as_ref().map_or(0, |schema| schema.text().len());
        Self {
            name: definition.name.clone(),
            tags: definition.tags.clone(),
            allowed_roles: definition.allowed_roles.clone(),
            when_forbidden: definition.when_forbidden,
            description_mode: definition.description_mode,
            shifts_context: definition.context_shift.is_some(),
            wants_approval: definition.approval == Some(true)
                || definition.no_schema_mode == Some(NoSchemaMode::HumanApproval),
            bytes: description.len() + schema,
        }
    }
}

/// A tool for one use.
#[derive(Debug)]
pub enum PassingTool<'a> {
    /// Its content is in memory.
    Kept(&'a Tool),
    /// Its content was read for this use.
    Read(Box<Tool>),
}

impl Deref for PassingTool<'_> {
    type Target = Tool;

    fn deref(&self) -> &Tool {
        match self {
            Self::Kept(tool) => tool,
            Self::Read(tool) => tool,
        }
    }
}

impl Deref for Tool {
    type Target = ToolContent;

    fn deref(&self) -> &ToolContent {
        self.content.get()
    }
}

impl Tool {
    /// Whether its effect is only what its name suggests: neither an author, a hint nor a request says it.
    pub fn effect_is_guess(&self) -> bool {
        self.definition.effect.is_none()
    }

    /// The name in its definition.
    pub fn written_name(&self) -> &str {
        &self.written.name
    }

    /// Free labels to filter by, as they are written.
    pub fn written_tags(&self) -> &[String] {
        &self.written.tags
    }

    /// Roles that may see and call the tool; empty means everyone.
    pub fn allowed_roles(&self) -> &[String] {
        &self.written.allowed_roles
    }

    /// Whether callers without such a role see that the tool exists.
    pub fn is_visible_to_all(&self) -> bool {
        self.written.when_forbidden == Some(WhenForbidden::Visible)
    }

    /// The description mode that its author chose.
    pub fn description_mode(&self) -> Option<DescriptionMode> {
        self.written.description_mode
    }

    /// Sets the description mode as if its author had chosen it.
    pub fn set_description_mode(&mut self, mode: DescriptionMode) {
        self.written.description_mode = Some(mode);
        if let Some(content) = self.content_mut() {
            content.definition.description_mode = Some(mode);
        }
    }

    /// The tool for one use. Content in a bundle is read for it and not kept, so that work on all tools takes the memory of
    /// a few.
    pub fn passing(&self) -> PassingTool<'_> {
        if self.content.read.get().is_some() {
            return PassingTool::Kept(self);
        }
        PassingTool::Read(Box::new(Self {
            name: self.name.clone(),
            safe_name: self.safe_name.clone(),
            op: self.op.clone(),
            aliases: self.aliases.clone(),
            categories: self.categories.clone(),
            short: self.short.clone(),
            effect: self.effect,
            server: self.server.clone(),
            place: self.place.clone(),
            withheld: self.withheld.clone(),
            written: self.written.clone(),
            digest: self.digest.clone(),
            content: self.content.read_stored().into(),
        }))
    }

    /// The content, to change it.
    pub fn content_mut(&mut self) -> Option<&mut ToolContent> {
        self.content.get();
        self.content.read.get_mut().map(|content| &mut **content)
    }

    /// Bytes of its name, of its description and of the schema of its arguments.
    pub fn bytes(&self) -> usize {
        self.name.len() + self.written.bytes
    }

    /// Whether its author wants a person to approve calls.
    pub fn wants_approval(&self) -> bool {
        self.written.wants_approval
    }

    /// Whether the result of a call can change the context of a session.
    pub fn shifts_context(&self) -> bool {
        self.written.shifts_context
    }

    /// The facts that selectors match.
    pub fn facts(&self) -> Facts<'_> {
        Facts {
            name: &self.written.name,
            canonical: &self.name,
            categories: &self.categories,
            tags: &self.written.tags,
            source: &self.place.file,
            server: self.server.as_deref(),
            effect: self.effect,
        }
    }
}
