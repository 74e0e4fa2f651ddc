// The endpoints for which deliveries of the queue are due, with what a delivery to them needs.
import type { Knex } from 'knex'
import { hourMs } from '../../base/dates.ts'
import { type Db, type Dialect, query } from '../../db/database.ts'
import { RowList } from '../../db/row-lists.ts'
import { isFree, waitingEndpoints } from '../../events/fan-out-store.ts'
import type { HealthState } from '../endpoint-store.ts'
import { hasPass, mayBeTried } from '../probation-store.ts'

/** An endpoint with deliveries that are due, and its health. */
export interface Target extends HealthState {
	readonly organizationId: string
	readonly endpointId: string
	readonly url: string
	/** The host of the URL. */
	readonly host: string
	/** When the host was last proven; null while it is on probation. */
	readonly provenAt: number | null
	/** When the host went on probation for its failures; null when it is proven, or on probation for another reason. */
	readonly lapsedAt: number | null
	/** JSON: the networks where the host is proven; null when nothing is known of it. */
	readonly networks: string | null
	readonly secret: string
	readonly previousSecret: string | null
	readonly previousSecretExpiresAt: number | null
	/** The headers of its requests, sealed. */
	readonly headers: string | null
	/** Since when its first delivery is due that nobody holds; not on SQLite. */
	readonly due?: number
}

/** For each of `w` in turn, by two keys: SQLite might begin with all endpoints, and PostgreSQL has the same in mind while there are few. */
const endpointAndHost = {
	sqlite: `cross join webhook_endpoints as p on p."organizationId" = w.o and p.id = w.e left join webhook_hosts as h on h.host = p.host`,
	postgres: `cross join lateral (select * from webhook_endpoints where "organizationId" = w.o and id = w.e limit 1) as p
		left join lateral (select * from webhook_hosts where host = p.host limit 1) as h on true`,
}

/** `offset 0`, since PostgreSQL would look for `due` once more where it is selected. */
const waitingOnce = {
	sqlite: 'select o, e from waiting where due <= ?',
	postgres: 'select * from (select o, e, due from waiting offset 0) as once where due <= ?',
}

const targets = query<{ now: number; hourAgo: number }, Target>((knex, { now, hourAgo }, dialect) =>
	active(
		knex,
		knex.raw(`(with recursive ? ${waitingOnce[dialect]}) as w`, [waitingEndpoints(knex, dialect, now), now]),
		{ now, hourAgo },
		dialect,
	),
)

/** Those of `w` that may be sent something. */
const active = (
	knex: Knex,
	waiting: Knex.Raw,
	{ now, hourAgo }: Record<'now' | 'hourAgo', Knex.Value>,
	dialect: Dialect,
): Knex.QueryBuilder =>
	knex
		.from(waiting)
		.joinRaw(endpointAndHost[dialect])
		// As an expression: the index of statuses would hold all endpoints of the organization.
		.whereRaw(`p.status || '' = 'active'`)
		.whereNull('p.deletedAt')
		.whereNull('p.skipUpTo')
		.whereRaw(`(h.host is null or h."provenAt" is not null or ${hasPass} or (${mayBeTried}))`, [now, hourAgo])
		.select('p.organizationId', 'p.id as endpointId', 'p.url', 'p.host', 'h.provenAt', 'h.lapsedAt', 'h.networks')
		.select(
			'p.failingSince',
			'p.warnedAt',
			'p.worksSince',
			'p.secret',
			'p.previousSecret',
			'p.previousSecretExpiresAt',
			'p.headers',
		)
		.select(dialect === 'sqlite' ? [] : ['w.due'])

/** The active endpoints with deliveries that are due, whatever others there are; but those whose host is on probation and must wait, unless they have a pass. */
export const findTargets = (db: Db, now: number) => db.all(targets, { now, hourAgo: now - hourMs })

type Found = Required<Pick<Target, 'organizationId' | 'endpointId' | 'due'>>

const found = new RowList<Found>({ organizationId: 'text', endpointId: 'text', due: 'bigint' })

const targetsAmong = query<{ rows: string; now: number; hourAgo: number }, Target>((knex, { rows, now, hourAgo }, dialect) =>
	active(
		knex,
		knex.raw(
			`(select * from (select r."organizationId" as o, r."endpointId" as e, (select "nextAttemptAt" from webhook_deliveries
				where "organizationId" = r."organizationId" and "endpointId" = r."endpointId" and "nextAttemptAt" >= r.due and ${isFree}
				order by "nextAttemptAt" limit 1) as due from ? offset 0) as once where due <= ?) as w`,
			[now, found.table(knex, { rows }, dialect), now],
		),
		{ now, hourAgo },
		dialect,
	),
)

/** On PostgreSQL: the same of endpoints that were found a moment ago, and only what is due since then or later. */
export function findTargetsAmong(db: Db, before: readonly Target[], now: number): Promise<Target[]> {
	const rows = before.map(({ organizationId, endpointId, due = 0 }) => ({ organizationId, endpointId, due }))
	return db.all(targetsAmong, { rows: JSON.stringify(rows), now, hourAgo: now - hourMs })
}
