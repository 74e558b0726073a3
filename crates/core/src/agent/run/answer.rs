//! Taking a model's reply: calls, a report, or neither.

use serde_json::Value;

use super::{AgentRun, Brief, Fault, Outcome, State, Stop, short};
use crate::agent::own;
use crate::message::{Call, Message, Said};
use crate::price;
use crate::provider::Reply;
use crate::report::{self, Conclusion, Report, ReportForm};
use crate::usage::Usage;

impl AgentRun {
    /// The model replied.
    pub fn replied(&mut self, reply: Reply) {
        if self.state != State::Asking {
            return;
        }
        self.trouble.errors = 0;
        self.latest = self.counted(&reply);
        let Brief { model, powers, .. } = &self.brief;
        self.spent.add(self.latest, price::of(model, *powers, self.latest));
        let Reply { mut said, stop, .. } = reply;
        said.calls.iter_mut().for_each(flatten);
        let read = self.read_text(&said, &stop);
        let calls = said.calls.clone();
        // Providers do not take an empty message back.
        if !said.text.is_empty() || !calls.is_empty() {
            self.conversation.push(Message::Assistant(said));
        }
        match (stop, read) {
            (Stop::Refused(reason), _) => self.end(Outcome::Refused { reason }),
            (_, Some(read)) => self.take(read, None),
            (_, None) => self.dispatch(calls),
        }
    }

    /// A provider that is paid for and counts nothing is counted by size: four bytes are a token.
    pub fn counted(&self, Reply { usage, said, .. }: &Reply) -> Usage {
        let usage = *usage;
        if usage.total() > 0 || self.brief.powers.free {
            return usage;
        }
        let bytes = |message: &Message| match message {
            Message::User(text) => text.len(),
            Message::Assistant(said) => size(said),
            Message::Results(results) => results.iter().map(|result| result.text.len()).sum(),
        };
        let sent = self.brief.system.len() + self.conversation.iter().map(bytes).sum::<usize>();
        let tokens = |bytes: usize| (bytes as u64).div_ceil(4);
        Usage { input: tokens(sent), output: tokens(size(said)), ..Usage::default() }
    }

    /// The form of its report.
    fn form(&self) -> ReportForm<'_> {
        let Brief { phase, fields, .. } = &self.brief;
        let sizes = self.budget.handover;
        ReportForm { phase: *phase, fields: fields.as_ref(), sizes }
    }

    /// A reply without calls should be the report, or is none.
    fn read_text(&self, said: &Said, stop: &Stop) -> Option<Result<Report, Vec<String>>> {
        if !said.calls.is_empty() {
            return None;
        }
        let fault = |fault: &str| Some(Err(vec![fault.to_owned()]));
        match stop {
            Stop::Length => fault(CUT),
            _ if said.text.trim().is_empty() => fault(NOTHING),
            _ if self.trouble.schema.is_some() => {
                Some(report::read_text(&said.text, &self.brief.task, self.form()))
            }
            _ => fault(PROSE),
        }
    }

    fn dispatch(&mut self, calls: Vec<Call>) {
        if let [call] = calls.as_slice()
            && call.name == own::REPORT
        {
            let read = report::read(call.arguments.clone(), &self.brief.task, self.form());
            return self.take(read, Some(call.clone()));
        }
        if let Some(limit) = self.trouble.closing {
            return self.end(Outcome::BudgetExhausted { limit });
        }
        self.spent.calls = self.spent.calls.saturating_add(own::count_calls(&calls));
        self.state = State::calling();
        if let [call] = calls.as_slice()
            && call.name == own::ASK
        {
            match own::read_questions(call) {
                Ok(questions) => self.ask(questions, Vec::new()),
                Err(fault) => self.answer(call.clone(), fault, true),
            }
            return self.proceed();
        }
        for (place, call) in calls.into_iter().enumerate() {
            self.route(place, call);
        }
        self.proceed();
    }

    /// Answers a call at once where no tool is needed, else lines it up.
    fn route(&mut self, place: usize, call: Call) {
        if place >= self.budget.calls {
            let most = self.budget.calls;
            return self.answer(
                call,
                format!("Not carried out: one reply may hold {most} calls."),
                true,
            );
        }
        if call.arguments == Call::TOO_DEEP {
            return self.answer(call, Call::TOO_DEEP.to_owned(), true);
        }
        if [own::REPORT, own::ASK].contains(&call.name.as_str()) {
            return self.answer(call, ALONE.to_owned(), true);
        }
        let is_listed = self.effect(&call.name).is_some();
        let most = self.budget.handover.backpack_tokens;
        let own =
            is_listed.then(|| own::carry_out(&call, (&self.brief, most), &mut self.kept)).flatten();
        match own {
            Some(said) => {
                let failed = said.is_err();
                let text = said.unwrap_or_else(|fault| fault);
                self.answer(call, text, failed);
            }
            None if !is_listed => {
                let names: Vec<&str> =
                    self.brief.tools.iter().map(|spec| spec.name.as_ref()).collect();
                let text = format!(
                    "There is no tool `{}`. You have {}.",
                    short(&call.name),
                    names.join(", ")
                );
                self.answer(call, text, true);
            }
            None => {
                if let State::Calling { open, .. } = &mut self.state {
                    open.push(call);
                }
            }
        }
    }

    /// A report that goes on leaves its artifacts, and may not leave out those that its agent owes.
    fn keep(&mut self, mut report: Report) -> Result<Report, Vec<String>> {
        self.take_self_review(&mut report)?;
        if report.verdict == Conclusion::Proceed && self.effect(own::RECORD).is_some() {
            let mut kept = self.kept.clone();
            kept.take(&report, (&self.brief.task, &self.brief.inherited))?;
            self.kept = kept;
        }
        Ok(report)
    }

    /// What a subagent itself finds not in order goes back to it once; then it is an issue of the report.
    fn take_self_review(&mut self, report: &mut Report) -> Result<(), Vec<String>> {
        let found = report.unmended();
        if found.is_empty() || report.verdict != Conclusion::Proceed {
            return Ok(());
        }
        let is_last = self.trouble.rejections >= self.budget.rejections;
        let goes_back = !self.trouble.doubted && !is_last && self.trouble.closing.is_none();
        if goes_back && !self.brief.powers.scripted {
            self.trouble.doubted = true;
            let told = found.iter().map(|item| {
                format!("`self_review` says that this is not ok: {item}. Mend it, or decide STOP.")
            });
            return Err(told.collect());
        }
        report.issues.extend(found.into_iter().map(|item| format!("Self-review, not ok: {item}")));
        Ok(())
    }

    /// A report, or what is wrong with it.
    fn take(&mut self, read: Result<Report, Vec<String>>, call: Option<Call>) {
        let faults = match read.and_then(|report| self.keep(report)) {
            Ok(report) => {
                let outcome = match report.verdict {
                    Conclusion::Proceed => Outcome::Done,
                    Conclusion::Stop { .. } => Outcome::Stopped,
                    Conclusion::Clarify { .. } => Outcome::Waiting,
                };
                return self.end_with(outcome, Some(report));
            }
            Err(faults) => faults,
        };
        if let Some(limit) = self.trouble.closing {
            return self.end(Outcome::BudgetExhausted { limit });
        }
        if self.trouble.rejections >= self.budget.rejections {
            return self.end(Outcome::Failed { fault: Fault::NoReport { faults } });
        }
        self.trouble.rejections += 1;
        if self.brief.powers.schema && self.trouble.rejections >= self.budget.rejections {
            let task = self.brief.task.as_str();
            let schema = report::bounded(task, self.form(), self.budget.output);
            self.trouble.schema = Some(schema);
        }
        let told = format!(
            "The report was not taken:\n- {}\nMend it and report again.",
            faults.join("\n- ")
        );
        if let Some(call) = call {
            self.state = State::calling();
            self.answer(call, told, true);
            self.proceed();
        } else {
            self.tell(&told);
            self.state = State::Asking;
        }
    }
}

pub(super) const PROSE: &str = "You ended with text alone. Text is not a report: call `report`, or another tool if work is left.";
const NOTHING: &str = "You said nothing. Call `report`, or another tool if work is left.";
const CUT: &str =
    "Your reply reached its limit of tokens before a call was complete. Say less at once.";
pub(super) const ALONE: &str =
    "Not taken: call `report` or `ask` alone, after you have seen what your other calls brought.";

/// The bytes of what was said.
fn size(said: &Said) -> usize {
    let calls = said.calls.iter().map(|call| call.arguments.to_string().len());
    said.text.len() + calls.sum::<usize>()
}

/// Arguments nested deeper than anybody can read are not kept: what is stored must be read back.
fn flatten(call: &mut Call) {
    if call.is_too_deep() {
        call.arguments = Value::from(Call::TOO_DEEP);
    }
}
