// The people of an organization. Who is removed keeps the row, so that what they did still has their name.

import type { User, UserRole } from '../../generated/contract.ts'
import { blanks, fields } from '../../generated/tables.ts'
import { endSessions } from '../../platform/auth/session-store.ts'
import { ApiError } from '../../platform/base/errors.ts'
import { newId } from '../../platform/base/ids.ts'
import { recordChange, type Writing } from '../../platform/db/audit-log.ts'
import { type Db, query } from '../../platform/db/database.ts'
import { jsonColumn } from '../../platform/db/json.ts'
import { records } from '../../platform/db/records.ts'
import { lockOrganization } from '../organizations/store.ts'

interface Hidden {
	/** argon2id as a PHC string; null: no password signs this person in. */
	readonly passwordHash: string | null
	/** Whom the OpenID Connect provider signs in as this person; null: nobody. */
	readonly issuer?: string | null
	readonly subject?: string | null
}

export const users = records<User, object, Hidden>({
	name: 'user',
	table: 'users',
	fields: fields.User,
	filter: (rows, _, filters) => rows.where(filters).whereNull('removedAt'),
})

export interface NewPerson extends Hidden {
	readonly organizationId: string
	readonly email: string
	readonly name: string
	readonly role: UserRole
}

const emailTaken = (email: string) => new ApiError('email_taken', `A person of the organization has the address ${email}.`)

/** Creates a person; throws 409 when another has the address. */
export async function createPerson(
	write: Writing,
	{ passwordHash, issuer = null, subject = null, ...person }: NewPerson,
): Promise<User> {
	const { now } = write.origin
	await lockOrganization(write.db, person.organizationId)
	if (await hasAddress(write.db, person.organizationId, person.email)) throw emailTaken(person.email)
	const user: User = { ...blanks.User, ...person, id: newId('usr'), createdAt: now, updatedAt: now, version: 1 }
	await users.insert(write, user, { passwordHash, issuer, subject })
	return user
}

const byAddress = query<{ organizationId: string; email: string }, { id: string }>((knex, of) =>
	knex('users').where(of).whereNull('removedAt').select('id'),
)

const hasAddress = async (db: Db, organizationId: string, email: string) =>
	(await db.get(byAddress, { organizationId, email })) !== undefined

/** Throws 409 when a person of the organization has the address. */
export async function requireFreeAddress(db: Db, organizationId: string, email: string): Promise<void> {
	if (await hasAddress(db, organizationId, email)) throw emailTaken(email)
}

/** As many organizations may have a person with one address who can sign in; the oldest count, so that nobody is pushed out. */
const mostOfAddress = 8

interface OfAddress {
	readonly email: string
	readonly organizationId?: string | undefined
}

const withHash = query<OfAddress, { json: string; passwordHash: string | null }>((knex, of, dialect) =>
	knex('users')
		.where(of)
		.whereNull('removedAt')
		.orderBy(['createdAt', 'id'])
		.limit(mostOfAddress)
		.select(jsonColumn(knex, dialect, fields.User), 'passwordHash'),
)

/** Who has an address, each with the hash of their password: of several organizations, who signed in last comes first. */
export async function findByAddress(db: Db, of: OfAddress) {
	const rows = await db.all(withHash, of)
	return rows
		.map(({ json, passwordHash }) => ({ user: JSON.parse(json) as User, passwordHash }))
		.sort((a, b) => (b.user.lastSignInAt ?? 0) - (a.user.lastSignInAt ?? 0))
}

const all = query<{ email: string }, { organizationId: string; id: string }>((knex, of) =>
	knex('users').where(of).whereNull('removedAt').orderBy(['createdAt', 'id']).limit(mostOfAddress).select('organizationId', 'id'),
)

/** Who has an address, in all organizations. */
export const listByAddress = (db: Db, email: string) => db.all(all, { email })

const hashOf = query<{ organizationId: string; id: string }, Hidden>((knex, key) =>
	knex('users').where(key).whereNull('removedAt').select('passwordHash'),
)

const lockedHash = query<{ organizationId: string; id: string }, Hidden>((knex, key) =>
	knex('users').where(key).whereNull('removedAt').select('passwordHash').forUpdate(),
)

/** Locks a person, and says whether the password is still the one that was checked, which takes a while. */
export const hasStill = async (
	db: Db,
	{ organizationId, id }: Pick<User, 'organizationId' | 'id'>,
	passwordHash: string | null,
) => (await db.get(lockedHash, { organizationId, id }))?.passwordHash === passwordHash

export const findPasswordHash = async (db: Db, organizationId: string, id: string) =>
	(await db.get(hashOf, { organizationId, id }))?.passwordHash ?? null

const password = query<{ organizationId: string; id: string } & Pick<Hidden, 'passwordHash'>>(
	(knex, { organizationId, id, passwordHash }) => knex('users').where({ organizationId, id }).update({ passwordHash }),
)

const resets = query<{ organizationId: string; userId: string }>((knex, of) => knex('password_resets').where(of).delete())

/** Sets a person's password, and ends their link to set one, and their sessions but the one that goes on. */
export async function setPassword(
	write: Writing,
	{ organizationId, id }: Pick<User, 'organizationId' | 'id'>,
	passwordHash: string,
	except?: string,
): Promise<void> {
	await write.db.run(password, { organizationId, id, passwordHash })
	const after = { passwordSetAt: write.origin.now }
	await recordChange(write, { organizationId, resource: 'user', resourceId: id, action: 'updated', after })
	await endWaysIn(write.db, { organizationId, id }, except)
}

/** Ends a person's link to set a password, and their sessions but one. */
async function endWaysIn(db: Db, { organizationId, id }: Pick<User, 'organizationId' | 'id'>, except?: string): Promise<void> {
	await db.run(resets, { organizationId, userId: id })
	await endSessions(db, { organizationId, userId: id, ...(except !== undefined && { except }) })
}

const signedIn = query<{ organizationId: string; id: string; lastSignInAt: number }>(
	(knex, { organizationId, id, lastSignInAt }) => knex('users').where({ organizationId, id }).update({ lastSignInAt }),
)

export const updateLastSignIn = (db: Db, { organizationId, id }: User, lastSignInAt: number) =>
	db.run(signedIn, { organizationId, id, lastSignInAt })

const anybody = query<object, { id: string }>((knex) =>
	knex('users').whereNotNull('passwordHash').whereNull('removedAt').limit(1).select('id'),
)

/** Whether anybody can sign in, to any organization. */
export const canAnybodySignIn = async (db: Db): Promise<boolean> => (await db.get(anybody, {})) !== undefined

/** SQLite has one writer at a time. */
const locking = query<object>((knex, _, dialect) =>
	dialect === 'postgres' ? knex.raw('lock table users in exclusive mode') : knex('users').limit(0),
)

/** Lets nobody else add a person until the transaction ends. */
export const lockPeople = (db: Db) => db.run(locking, {})

const otherAdmin = query<{ organizationId: string; id: string }, { id: string }>((knex, { organizationId, id }) =>
	knex('users')
		.where({ organizationId, role: 'admin' })
		.whereNull('removedAt')
		.whereNotNull('passwordHash')
		.whereNot('id', id)
		.limit(1)
		.select('id'),
)

/** Throws 409 when no other admin can sign in by password, since a provider may be away for good. The organization stays locked, so that two cannot go at once. */
async function requireOtherAdmin({ db }: Writing, { organizationId, id, role, name }: User): Promise<void> {
	if (role !== 'admin') return
	await lockOrganization(db, organizationId)
	if (await db.get(otherAdmin, { organizationId, id })) return
	throw new ApiError('last_admin', `${name} is the last admin of the organization: make somebody else an admin first.`)
}

/** Changes a person who was read with `lock`. */
export async function changePerson(write: Writing, user: User, changes: Partial<Pick<User, 'name' | 'role'>>): Promise<User> {
	if (changes.role !== undefined && changes.role !== 'admin') await requireOtherAdmin(write, user)
	return users.update(write, user, changes)
}

/** Removes a person who was read with `lock`, and ends their sessions. */
export async function removePerson(write: Writing, user: User): Promise<void> {
	if (user.removedAt !== null) return
	await requireOtherAdmin(write, user)
	await users.update(write, user, { removedAt: write.origin.now, passwordHash: null, issuer: null, subject: null }, 'deleted')
	await endWaysIn(write.db, user)
}
