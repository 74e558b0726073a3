//! The person's own key, and runs that it does not vouch for.

use std::path::PathBuf;

use sequester_core::fault::Code;
use sequester_core::id::RunId;
use sequester_store::{HeadState, PublicKey, Signer};

use super::trust::state_folder;
use crate::failure::Failure;

fn folder() -> Option<PathBuf> {
    state_folder().map(|state| state.join("keys"))
}

/// The key of this user; it is made where there is none.
pub(crate) fn signer() -> Result<Signer, Failure> {
    let Some(folder) = folder() else {
        let message = "There is no folder for the key that signs what is recorded.";
        let hint = "Set `HOME`, or `XDG_STATE_HOME`, to a folder of your own.";
        return Err(Failure::work(Code::StoreFailed, "HOME", message, hint));
    };
    Signer::load_or_create(&folder).map_err(|error| unusable(&folder, &error))
}

/// The same, if there is one yet.
pub(crate) fn existing_signer() -> Result<Option<Signer>, Failure> {
    let Some(folder) = folder() else { return Ok(None) };
    Signer::load(&folder).map_err(|error| unusable(&folder, &error))
}

/// Its public half.
pub(crate) fn own_key() -> Result<Option<PublicKey>, Failure> {
    Ok(existing_signer()?.map(|signer| signer.key()))
}

fn unusable(folder: &std::path::Path, error: &sequester_core::store::Error) -> Failure {
    Failure::work(Code::StoreFailed, folder.display(), error.to_string(), error.hint.clone())
}

/// One sentence about runs that this user did not record here; nothing where there are none.
pub(crate) fn tell_foreign(foreign: &[(RunId, HeadState)]) -> Option<String> {
    let (run, state) = foreign.first()?;
    let why = why_foreign(*state);
    let more = match foreign.len() {
        1 => String::new(),
        many => format!(" {} more are not yours either.", many - 1),
    };
    Some(format!("Run `{run}` is not yours: {why}.{more}"))
}

/// As the end of a sentence.
pub(crate) fn why_foreign(state: HeadState) -> String {
    match state {
        HeadState::Signed { here: false, .. } => {
            "it was recorded in another place, which was copied or moved here".to_owned()
        }
        HeadState::Signed { by, here: true } => format!("it is signed by `{by}`"),
        HeadState::Unsigned => "it is not signed".to_owned(),
        HeadState::Broken { since } => {
            format!("from event {since} on it is not what was signed")
        }
    }
}
