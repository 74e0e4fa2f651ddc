// Invitations: a row until somebody accepts, or an admin takes it back. The link's secret is stored as its hash.

import type { Invitation, InvitationCreate, InvitationDetails } from '../../generated/contract.ts'
import { blanks, fields } from '../../generated/tables.ts'
import { isAtLeast } from '../../platform/auth/roles.ts'
import { hashOfToken } from '../../platform/auth/session-cookie.ts'
import { dayMs } from '../../platform/base/dates.ts'
import { ApiError } from '../../platform/base/errors.ts'
import { newId } from '../../platform/base/ids.ts'
import { creatorOf } from '../../platform/base/origin.ts'
import { recordChange, type Writing } from '../../platform/db/audit-log.ts'
import { asNumber, type Db, query } from '../../platform/db/database.ts'
import { jsonColumn } from '../../platform/db/json.ts'
import { records } from '../../platform/db/records.ts'
import { lockOrganization } from '../organizations/store.ts'
import { users } from './store.ts'

const validMs = 7 * dayMs
const maxInvitations = 100

export const invitations = records<Invitation, object, { readonly hash: string }>({
	name: 'invitation',
	table: 'invitations',
	fields: fields.Invitation,
})

interface Key {
	readonly organizationId: string
	readonly id: string
}

const ofAddress = query<{ organizationId: string; email: string }, { json: string }>((knex, of, dialect) =>
	knex('invitations')
		.where(of)
		.select(jsonColumn(knex, dialect, fields.Invitation))
		.forUpdate(),
)

const renewal = query<Key & Partial<Invitation> & { hash?: string }>((knex, { organizationId, id, ...columns }) =>
	knex('invitations').where({ organizationId, id }).update(columns),
)

const some = query<{ organizationId: string; limit: number }, { id: string }>((knex, { organizationId, limit }) =>
	knex('invitations').where({ organizationId }).limit(asNumber(limit)).select('id'),
)

/** Stores an invitation; one for the same address gets the new role and link instead. */
export async function createInvitation(
	write: Writing,
	organizationId: string,
	{ email, role }: InvitationCreate,
	token: string,
): Promise<Invitation> {
	const { db, origin } = write
	await lockOrganization(db, organizationId)
	const known = await db.get(ofAddress, { organizationId, email })
	if (known) return renewInvitation(write, JSON.parse(known.json), token, role)
	if ((await db.all(some, { organizationId, limit: maxInvitations })).length >= maxInvitations)
		throw new ApiError('too_many_invitations', `The organization has ${maxInvitations} invitations: delete one first.`)
	const [createdAt, expiresAt] = [origin.now, origin.now + validMs]
	const createdBy = creatorOf(origin)
	const invitation = { ...blanks.Invitation, organizationId, id: newId('ivt'), email, role, createdBy, createdAt, expiresAt }
	await invitations.insert(write, invitation, { hash: hashOfToken(token) })
	return invitation
}

/** Gives an invitation that was read with a lock a new link. */
export async function renewInvitation(
	write: Writing,
	invitation: Invitation,
	token: string,
	role = invitation.role,
): Promise<Invitation> {
	const { organizationId, id } = invitation
	const after = { role, expiresAt: write.origin.now + validMs, createdBy: creatorOf(write.origin), emailedAt: null }
	await write.db.run(renewal, { organizationId, id, hash: hashOfToken(token), ...after })
	const { expiresAt, createdBy } = invitation
	const before = { role: invitation.role, expiresAt, createdBy }
	await recordChange(write, {
		organizationId,
		resource: 'invitation',
		resourceId: id,
		action: 'updated',
		before,
		after: { role, expiresAt: after.expiresAt, createdBy: after.createdBy },
	})
	return { ...invitation, ...after }
}

export const noteEmailed = (db: Db, { organizationId, id }: Invitation, emailedAt: number) =>
	db.run(renewal, { organizationId, id, emailedAt })

const byHash = query<{ hash: string; now: number }, { json: string; organizationName: string }>((knex, { hash, now }, dialect) =>
	knex('invitations as i')
		.join('organizations as o', 'o.organizationId', 'i.organizationId')
		.where('i.hash', hash)
		.where('i.expiresAt', '>', now)
		.select(
			jsonColumn(
				knex,
				dialect,
				fields.Invitation,
				Object.fromEntries(Object.keys(fields.Invitation).map((field) => [field, knex.ref(`i.${field}`)])),
			),
			'o.name as organizationName',
		),
)

const gone = () => new ApiError('invitation_not_found', 'The invitation has expired, was taken back, or is used already.')

/** The invitation of a link; throws 404 when it works no longer. */
export async function requireInvitation(
	db: Db,
	token: string,
	now: number,
): Promise<{ invitation: Invitation; details: InvitationDetails }> {
	const row = await db.get(byHash, { hash: hashOfToken(token), now })
	if (!row) throw gone()
	const invitation: Invitation = JSON.parse(row.json)
	await requireInviter(db, invitation)
	const { email, role, expiresAt } = invitation
	return { invitation, details: { organizationName: row.organizationName, email, role, expiresAt } }
}

/** Throws 404 unless the person who made the invitation may still give its role. */
async function requireInviter(db: Db, { organizationId, role, createdBy }: Invitation): Promise<void> {
	if (createdBy?.type !== 'user' || createdBy.id === null) return
	const person = await users.find(db, organizationId, createdBy.id)
	if (person?.removedAt === null && isAtLeast(person.role, role)) return
	throw new ApiError('invitation_ended', 'Who made the invitation may invite nobody any more: ask somebody else for a new one.')
}

/** Takes an invitation that its link names, so that nobody else can; throws 404 when somebody has. */
export async function takeInvitation(write: Writing, token: string): Promise<Invitation> {
	return takeKnown(write, (await requireInvitation(write.db, token, write.origin.now)).invitation)
}

const byAddress = query<{ email: string; now: number }, Key>((knex, { email, now }) =>
	knex('invitations')
		.where({ email })
		.where('expiresAt', '>', now)
		.orderBy(['createdAt', 'id'])
		.limit(1)
		.select('organizationId', 'id'),
)

/** Takes the oldest invitation of an address that is known to be the visitor's; undefined without one. */
export async function takeInvitationOf(write: Writing, email: string): Promise<Invitation | undefined> {
	const known = await write.db.get(byAddress, { email, now: write.origin.now })
	return known && takeKnown(write, known)
}

async function takeKnown(write: Writing, { organizationId, id }: Key): Promise<Invitation> {
	// An admin is removed under this lock.
	await lockOrganization(write.db, organizationId)
	const locked = await invitations.lock(write.db, organizationId, id)
	if (!locked) throw gone()
	await requireInviter(write.db, locked)
	await invitations.remove(write, locked)
	return locked
}
