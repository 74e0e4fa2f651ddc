// Gives committed events their places in the feed, on PostgreSQL. An organization's counter is its lock too: who has its row gives
// places, and who finds it taken leaves that to the other.
import { type Database, query } from '../db/database.ts'

interface Owner {
	readonly organizationId: string
}

interface Counter {
	readonly last: number
}

/** How many events get their places in one transaction. */
const placeBatch = 1_000
/** How many transactions one read runs at most: a long feed that nobody has read gets its places over several reads. */
export const maxPlaceBatches = 10

const unplaced = query<Owner, object>((knex, owner) =>
	knex('events').where(owner).whereNull('place').orderBy('position').limit(1, { skipBinding: true }).select('position'),
)

const lockCounter = query<Owner, Counter>((knex, owner) =>
	knex('feed_places').where(owner).select('last').forUpdate().skipLocked(),
)

/** Of an organization that has none yet. Returns nothing when another has just made it. */
const beginCounter = query<Owner, Counter>((knex, { organizationId }) =>
	knex.raw(
		`insert into feed_places ("organizationId", last)
		select cast(? as text), coalesce(max(place), 0) from events where "organizationId" = ?
		on conflict do nothing returning last`,
		[organizationId, organizationId],
	),
)

const assignPlaces = query<Owner & Counter>((knex, { organizationId, last }) =>
	knex.raw(
		`with next as materialized (
			select id, row_number() over (order by position) as number from events
			where "organizationId" = ? and place is null order by position limit ${placeBatch}
		), counted as (
			update feed_places set last = last + given.count from (select count(*) from next) as given where "organizationId" = ?
		)
		update events set place = ? + next.number from next where events."organizationId" = ? and events.id = next.id`,
		[organizationId, organizationId, last, organizationId],
	),
)

/** Gives places to committed events without one, and returns how many. One reader does so at a time; the others get 0. */
export async function place(db: Database, organizationId: string): Promise<number> {
	const owner = { organizationId }
	// Most readers find nothing new, and write nothing: a lock on a row is a write.
	if (!(await db.get(unplaced, owner))) return 0
	return db.transaction(async (tx) => {
		// A statement of its own, so that the next one sees what was committed before the lock was there.
		const counter = (await tx.get(lockCounter, owner)) ?? (await tx.get(beginCounter, owner))
		return counter ? tx.run(assignPlaces, { ...owner, last: counter.last }) : 0
	}, owner)
}

/** Gives places to all committed events, or to many. */
export async function placeAll(db: Database, organizationId: string): Promise<void> {
	if (db.dialect === 'sqlite') return
	for (let times = 0; times < maxPlaceBatches && (await place(db, organizationId)) === placeBatch; times++);
}
