//! Repair of arguments by a model, once, where `[repair]` names one. The repaired arguments are validated like any, and the
//! answer says that a model has changed them. Writes are repaired only where the operator allows it, and what destroys is
//! never guessed.

use serde_json::Value;
use tokio::task::spawn_blocking;

use crate::arguments::{Repair, RepairKind, RepairQuestion, decoded, validate};
use crate::catalog::Tool;
use crate::exec::call::Call;
use crate::refusal::{ErrorCode, Refusal};
use crate::tool::Effect;

/// Arguments that a model has made fit, with the changes; else the refusal, with the reason in `details.repair` if a model was
/// asked.
pub(super) async fn repair(call: &mut Call, tool: &Tool, refusal: Refusal) -> Result<Vec<Repair>, Refusal> {
    let Some(question) = question(call, tool, &refusal) else { return Err(refusal) };
    let Some(model) = call.context.repair_model() else { return Err(refusal) };
    let asking = spawn_blocking(move || question.ask(&*model));
    let answer = asking.await.unwrap_or_else(|_| Err("the model could not be asked".into()));
    match answer.and_then(|answer| checked(call, tool, &answer)) {
        Ok((arguments, mut repaired, notes)) => {
            call.request.args = arguments;
            call.request.warnings.push("the arguments did not fit, and a model has corrected them".into());
            call.request.warnings.extend(notes);
            call.repaired_by_model = true;
            repaired.insert(0, Repair { pointer: String::new(), repair: RepairKind::Model });
            Ok(repaired)
        }
        Err(reason) => Err(refusal.detail("repair", call.secrets().text(&reason))),
    }
}

/// The question about a call that a model may repair. A call with a secret is sent to no model.
fn question(call: &Call, tool: &Tool, refusal: &Refusal) -> Option<RepairQuestion> {
    let allowed = match tool.effect {
        Effect::Read => true,
        Effect::Write => call.config().repair.as_ref()?.writes,
        Effect::Destructive => false,
    };
    if !allowed || refusal.code != ErrorCode::ValidationError {
        return None;
    }
    let (shown, hidden) = call.secrets().split(tool.parameters.schema(), call.arguments());
    let given = match &shown {
        Value::String(text) => text.clone(),
        Value::Null => return None,
        value => value.to_string(),
    };
    let is_open = hidden.is_empty() && call.secrets().text(&given) == given;
    RepairQuestion::of(tool, &given, &refusal.message, &refusal.field_errors).filter(|_| is_open)
}

/// Arguments, with the changes that made them fit, and these in words.
type Fit = (Value, Vec<Repair>, Vec<String>);

/// The answer of the model, validated like the arguments of any call.
fn checked(call: &Call, tool: &Tool, answer: &str) -> Result<Fit, String> {
    let mut arguments = decoded(answer)
        .ok()
        .filter(Value::is_object)
        .ok_or_else(|| "the model's answer is not one JSON object".to_string())?;
    let mut notes = Vec::new();
    let repaired = validate(tool, call.secrets(), &mut arguments, Default::default(), &mut notes).map_err(
        |invalid| format!("the model's answer does not fit either: {}", Refusal::from(invalid).message),
    )?;
    Ok((arguments, repaired, notes))
}
