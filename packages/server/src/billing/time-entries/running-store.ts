// A user has one running time entry at most. Those that an older version let run beside each other go on.

import type { Knex } from 'knex'
import { lockOrganization } from '../../accounts/doors.ts'
import type { TimeEntry } from '../../generated/contract.ts'
import { fieldError } from '../../platform/base/errors.ts'
import { type Db, query } from '../../platform/db/database.ts'

const running = (knex: Knex, organizationId: Knex.Value) =>
	knex('time_entries').where({ organizationId }).whereNull('endedAt').select('id').limit(1, { skipBinding: true })

const runningOf = query<{ organizationId: string; userId: string }, { id: string }>((knex, { organizationId, userId }) =>
	running(knex, organizationId).where({ userId }),
)
const runningOfNobody = query<{ organizationId: string }, { id: string }>((knex, { organizationId }) =>
	running(knex, organizationId).whereNull('userId'),
)

/** Throws when the user has a running entry. The organization stays locked, so that two requests cannot both start the first. */
export async function requireNoTimer(
	db: Db,
	{ organizationId, userId }: Pick<TimeEntry, 'organizationId' | 'userId'>,
): Promise<void> {
	await lockOrganization(db, organizationId)
	const found = await (userId === null
		? db.get(runningOfNobody, { organizationId })
		: db.get(runningOf, { organizationId, userId }))
	if (!found) return
	const who = userId === null ? 'without a user' : `of the user ${userId}`
	throw fieldError('timer_running', '/userId', `The time entry ${found.id} ${who} is running: stop it first.`)
}
