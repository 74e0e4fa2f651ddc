// Links to set a new password: one a person, as its hash, for an hour.
import { hashOfToken } from '../../platform/auth/session-cookie.ts'
import { hourMs } from '../../platform/base/dates.ts'
import { ApiError } from '../../platform/base/errors.ts'
import { type Db, query } from '../../platform/db/database.ts'

interface Person {
	readonly organizationId: string
	readonly userId: string
}

const validMs = hourMs

const insertion = query<Person & { hash: string; expiresAt: number }>((knex, row) =>
	knex('password_resets').insert(row).onConflict(['organizationId', 'userId']).merge(['hash', 'expiresAt']),
)

/** Stores a link for a person, in place of the one before. */
export const storeReset = (db: Db, { organizationId, userId }: Person, token: string, now: number) =>
	db.run(insertion, { organizationId, userId, hash: hashOfToken(token), expiresAt: now + validMs })

const working = query<{ hash: string; now: number }, Person>((knex, { hash, now }) =>
	knex('password_resets').where({ hash }).where('expiresAt', '>', now).select('organizationId', 'userId'),
)

const gone = () => new ApiError('password_reset_not_found', 'The link has expired, or is used already: ask for another.')

/** Whose link it is; throws 404 unless it works. */
export async function requireReset(db: Db, token: string, now: number): Promise<Person> {
	const found = await db.get(working, { hash: hashOfToken(token), now })
	if (!found) throw gone()
	return found
}

const locked = query<{ hash: string; now: number }, Person>((knex, { hash, now }) =>
	knex('password_resets').where({ hash }).where('expiresAt', '>', now).select('organizationId', 'userId').forUpdate(),
)

const removal = query<Person>((knex, { organizationId, userId }) =>
	knex('password_resets').where({ organizationId, userId }).delete(),
)

/** Whose link it is, which works no longer; throws 404 when it does not work. */
export async function takeReset(db: Db, token: string, now: number): Promise<Person> {
	const found = await db.get(locked, { hash: hashOfToken(token), now })
	if (!found) throw gone()
	await db.run(removal, found)
	return found
}
