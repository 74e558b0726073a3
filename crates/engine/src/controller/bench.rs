//! Where an attempt works: a jail, which is exchanged for another one when somebody else's change comes into the workspace.

use sequester_core::change::Change;
use sequester_core::future::BoxFuture;
use sequester_core::jail::{Cell, Error, HostAsked, Jail, Jails};
use sequester_core::run::Event;
use sequester_core::tool::{Invocation, Returned, Spec, Toolbox};
use tokio::sync::RwLock;

pub(super) struct Bench<'j> {
    jails: &'j dyn Jails,
    cell: Cell,
    seat: RwLock<Seat>,
}

struct Seat {
    // In this order: all that was started is gone before its jail is.
    tools: Box<dyn Toolbox>,
    jail: Box<dyn Jail>,
    /// What the workspace held when somebody looked last.
    change: Change,
    is_told: bool,
    /// By whoever worked in the jail before it was exchanged.
    asked: Vec<HostAsked>,
}

impl<'j> Bench<'j> {
    pub(super) async fn open(jails: &'j dyn Jails, cell: Cell) -> Result<Self, Error> {
        let seat = Seat::open(jails, &cell, true).await?;
        Ok(Self { jails, cell, seat: RwLock::new(seat) })
    }

    /// What the workspace holds since somebody was told of it last; nothing if that is the same.
    pub(super) async fn news(&self) -> Result<Option<Change>, Error> {
        let mut seat = self.seat.write().await;
        seat.look().await?;
        let is_told = std::mem::replace(&mut seat.is_told, true);
        Ok((!is_told).then(|| seat.change.clone()))
    }

    /// All that it holds by now and the base does not.
    pub(super) async fn change(&self) -> Result<Change, Error> {
        let mut seat = self.seat.write().await;
        seat.look().await?;
        Ok(seat.change.clone())
    }

    /// From now on it holds this.
    pub(super) async fn lay(&self, change: Change) -> Result<(), Error> {
        let mut seat = self.seat.write().await;
        let cell = Cell { change: Some(change), ..self.cell.clone() };
        let mut asked = std::mem::take(&mut seat.asked);
        asked.extend(seat.jail.asked());
        *seat = Seat { asked, ..Seat::open(self.jails, &cell, false).await? };
        Ok(())
    }

    /// Hosts that were asked for since somebody was told of them last.
    pub(super) async fn asked(&self) -> Vec<Event> {
        let mut seat = self.seat.write().await;
        let mut asked = std::mem::take(&mut seat.asked);
        asked.extend(seat.jail.asked());
        let event = |one: HostAsked| {
            let HostAsked { host, port, allowed, why } = one;
            Event::HostAsked { host, port, allowed, why }
        };
        asked.into_iter().map(event).collect()
    }

    /// Once nobody works in it any more.
    pub(super) async fn harvest(self) -> Result<Change, Error> {
        let Seat { tools, jail, .. } = self.seat.into_inner();
        drop(tools);
        jail.harvest().await
    }
}

impl Seat {
    async fn open(jails: &dyn Jails, cell: &Cell, is_told: bool) -> Result<Self, Error> {
        let jail = jails.open(cell).await?;
        let change = cell.change.clone().unwrap_or_default();
        Ok(Self { tools: jail.tools(), jail, change, is_told, asked: Vec::new() })
    }

    async fn look(&mut self) -> Result<(), Error> {
        if let Some(change) = self.jail.look().await? {
            (self.change, self.is_told) = (change, false);
        }
        Ok(())
    }
}

impl Toolbox for Bench<'_> {
    fn specs(&self) -> Vec<Spec> {
        self.jails.specs()
    }

    fn call<'a>(&'a self, invocation: &'a Invocation) -> BoxFuture<'a, Returned> {
        Box::pin(async move { self.seat.read().await.tools.call(invocation).await })
    }
}
