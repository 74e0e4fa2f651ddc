// What every change of a record needs, whether a request, a payment or a background job makes it.

import type { OrganizationSettings } from '../../generated/contract.ts'
import type { Origin } from '../base/origin.ts'
import { type Db, type OfOrganization, query, type Transaction } from './database.ts'
import { type Part, RowList } from './row-lists.ts'

declare const ordered: unique symbol

/** An origin whose time is in the order in which the organization's changes are stored (`takeChangeTime`). */
export type OrderedOrigin = Origin & { readonly [ordered]: true }

export interface WriteContext {
	/** The transaction of the change. */
	readonly db: Db
	/** Actor, request and time of the change, for its events. */
	readonly origin: OrderedOrigin
	/** The organization that owns the record, with its settings. */
	readonly organization: OrganizationSettings
}

/**
 * A time that is further ahead than this comes from before the clock was set back, and is not kept up: what is due at once would wait
 * until the clock is there again. Longer than a change waits for the one before.
 */
const aheadMs = 60_000

const time = query<{ organizationId: string; now: number }, { now: number }>((knex, { organizationId, now }) =>
	knex.raw(
		`insert into change_times ("organizationId", "changedAt") values (?, ?) on conflict ("organizationId") do update set "changedAt" =
		case when change_times."changedAt" between excluded."changedAt" and excluded."changedAt" + ${aheadMs} then change_times."changedAt"
		else excluded."changedAt" end returning "changedAt" as now`,
		[organizationId, now],
	),
)

/**
 * Gives a change a time that no change of the organization which is stored already comes after, by whatever server, and lets none be stored
 * before this one ends: whoever asks for what changed since the last time that they have seen (`updatedSince`) misses nothing. To be
 * called before the transaction locks anything, so that no two wait for each other, with the time of now in `origin`.
 */
export async function takeChangeTime(tx: Transaction, origin: Origin, organizationId: string): Promise<OrderedOrigin> {
	const now = await tx.once(`time of ${organizationId}`, async () => {
		const last = tx.shared?.recall<number>(lastTimeOf(organizationId))
		if (last !== undefined) {
			// As the statement says it.
			const changedAt = last >= origin.now && last <= origin.now + aheadMs ? last : origin.now
			tx.shared?.later(timesLater, { organizationId, changedAt })
			return changedAt
		}
		const row = await tx.get(time, { organizationId, now: origin.now })
		return (row as { now: number }).now
	})
	return { ...origin, now } as OrderedOrigin
}

interface ChangeTime extends OfOrganization {
	readonly changedAt: number
}

const times = new RowList<ChangeTime>({ organizationId: 'text', changedAt: 'bigint' })
const setTimes = query<Part<ChangeTime>>((knex, part, dialect) =>
	knex.raw(
		`update change_times set "changedAt" = r."changedAt" from ? where change_times."organizationId" = r."organizationId"`,
		[times.table(knex, part, dialect)],
	),
)
const timesLater = { tables: ['change_times'], query: setTimes }

const turns = new RowList<OfOrganization>({ organizationId: 'text' })
const freeTurns = query<Part<OfOrganization>, ChangeTime>((knex, part, dialect) =>
	knex.raw(
		`select c."organizationId", c."changedAt" from ? inner join change_times as c on c."organizationId" = r."organizationId"
		for update of c skip locked`,
		[turns.table(knex, part, dialect)],
	),
)

/**
 * Locks the times of organizations and returns them, but for those that another transaction has, or that have none yet. On
 * PostgreSQL.
 */
export async function lockFreeTimes(db: Db, organizationIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
	const keys = organizationIds.map((organizationId) => ({ organizationId }))
	const free = await turns.all(db, freeTurns, keys)
	return new Map(free.map(({ organizationId, changedAt }) => [organizationId, changedAt]))
}

/** Under which a transaction remembers what `lockFreeTimes` has returned. */
export const lastTimeOf = (organizationId: string) => `last time of ${organizationId}`

/** For what only reads, for what is not there before the transaction, and for a demo, whose records are from earlier times. */
export const withoutOrder = (origin: Origin): OrderedOrigin => origin as OrderedOrigin

/** The context of a change that no request makes; to be made before the transaction locks anything (`takeChangeTime`). */
export const writingIn = async (tx: Transaction, origin: Origin, organization: OrganizationSettings) => ({
	db: tx,
	origin: await takeChangeTime(tx, origin, organization.id),
	organization,
})
