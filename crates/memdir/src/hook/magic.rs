//! Magic docs that an agent reads: noted, and looked after by whoever has the time.

use memdir_core::host::{Tool, ToolKind};
use memdir_store::magic::{Magic, is_markdown};
use memdir_store::queue::{Job, Kind, Queue};

use super::desk::Desk;
use crate::work;

impl Desk<'_> {
    /// Notes that a magic doc was read. A file that is none costs a look at its beginning.
    pub(super) fn note_magic(&self, tool: &Tool) {
        let is_one = tool.kind == ToolKind::Read && tool.files.iter().any(|file| is_markdown(file));
        if !is_one || self.ignores_memory {
            return;
        }
        let magic = Magic::of(&self.context.place, &self.context.env);
        let notes = |file: &String| {
            let path = self.absolute(file);
            let path = magic.path_of(&path, &path).ok();
            // Not being able to costs a doc that is not looked after.
            path.is_some_and(|path| magic.note_read(&path, self.context.now).unwrap_or(false))
        };
        if tool.files.iter().filter(|file| notes(file)).count() > 0 {
            self.push_magic();
        }
    }

    /// Has the docs of the project looked at after an answer: files may have changed.
    pub(super) fn look_after_magic(&self) {
        if !self.ignores_memory && !Magic::of(&self.context.place, &self.context.env).is_empty() {
            self.push_magic();
        }
    }

    fn push_magic(&self) {
        let queue = Queue::of(&self.context.place);
        let job = Job::new(Kind::Magic, &self.context.place, self.context.now);
        // Whoever has a doc looked at pays for it.
        let job = match self.occasion.session.as_str() {
            "" => job,
            id => {
                let transcript = self.occasion.transcript.as_ref().map(Into::into);
                job.about(id, Some(self.occasion.agent), transcript)
            }
        };
        if queue.push(&job).is_ok() {
            let _ = work::start(&self.context.place.home, &queue);
        }
    }
}
