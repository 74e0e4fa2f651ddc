import { setTimeout as sleep } from 'node:timers/promises'
import type { Session } from '../../generated/contract.ts'
import { unauthorized } from '../../platform/auth/caller.ts'
import { allows } from '../../platform/auth/keys.ts'
import { hashPassword, verifyPassword } from '../../platform/auth/passwords.ts'
import { removeCookie } from '../../platform/auth/session-cookie.ts'
import { findAddresses } from '../../platform/auth/session-store.ts'
import { networkOf } from '../../platform/base/network.ts'
import type { Handler, SelfManagedContext } from '../../platform/http/handler.ts'
import { listHandler, removed } from '../../platform/http/record-handlers.ts'
import { requireInvitation, takeInvitation } from '../people/invitation-store.ts'
import { createPerson, findByAddress, hasStill, users } from '../people/store.ts'
import { currentSession, startSession, visitorOf } from './start.ts'
import { type SessionFilter, sessions } from './store.ts'

export const get: Handler<'session.get'> = async ({ caller }, { db }) => {
	const { organizationId, id, session } = caller
	const user = await users.existing(db, organizationId, id)
	return { status: 200, body: { data: currentSession(await sessions.existing(db, organizationId, session.id), user) } }
}

export const create: Handler<'session.create'> = async ({ body, userAgent }, context) => {
	const email = body.email.toLowerCase()
	const visitor = visitorOf(context)
	const { signIns } = context.limits
	const find = () => findByAddress(context.db, { email, organizationId: body.organizationId })
	let known: People | undefined
	await signIns.attempt(visitor, email, async () => {
		known = await signedInHere(context, await find())
		return known.length > 0
	})
	const started = performance.now()
	const people = known ?? (await find())
	const found = await matching(people, body.password, visitor)
	if (!found) {
		// How long it took would tell how many organizations know the address.
		await sleep(refusalMs - ((performance.now() - started) % refusalMs))
		throw signInFailed()
	}
	await signIns.succeeded(visitor, email)
	return startSession(context, userAgent, async (tx) => {
		if (!(await hasStill(tx, found.user, found.passwordHash))) throw signInFailed()
		return found.user
	})
}

/** A failed attempt is answered after a multiple of this time. */
const refusalMs = 250

const signInFailed = () => unauthorized('sign_in_failed', 'The e-mail address or the password is wrong.')

type People = Awaited<ReturnType<typeof findByAddress>>

/** Those of the people who have signed in from the network that asks. */
async function signedInHere({ db, origin }: SelfManagedContext, people: People): Promise<People> {
	const here = networkOf(origin.address ?? '')
	const found: People = []
	for (const person of people) {
		const { organizationId, id } = person.user
		const addresses = await findAddresses(db, organizationId, id)
		if (here !== undefined && addresses.some((address) => networkOf(address ?? '') === here)) found.push(person)
	}
	return found
}

/** The first of those who have an address whose password it is: another organization may know the address too, with any password. */
async function matching(people: People, password: string, visitor: string) {
	for (const person of people) if (await verifyPassword(password, person.passwordHash, visitor)) return person
	if (people.length === 0) await verifyPassword(password, null, visitor)
	return undefined
}

export const remove: Handler<'session.delete'> = async ({ caller }, context) => {
	const { organizationId, session } = caller
	const stored = await sessions.lock(context.db, organizationId, session.id)
	if (stored) await sessions.remove(context, stored)
	context.afterCommit(() => context.callers.forget(organizationId))
	const headers = { 'Set-Cookie': removeCookie(context.services.baseUrl), 'Clear-Site-Data': '"cache"' }
	return { status: 200, headers, body: { ok: true } }
}

const readPage = listHandler<Session, SessionFilter>(sessions)

export const list: Handler<'sessions.list'> = ({ query, caller }, context) => {
	const { userId = caller.id, ...page } = query
	const own = allows(caller.scopes, ['admin']) ? query : { ...page, userId: userId === caller.id ? userId : '' }
	return readPage({ caller, query: { ...own, liveAt: context.now } }, context)
}

export const end: Handler<'sessions.delete'> = async ({ params, caller }, context) => {
	const { organizationId } = caller
	const stored = await sessions.lock(context.db, organizationId, params.id)
	const isOwn = stored?.userId === caller.id
	if (!stored || !(isOwn || allows(caller.scopes, ['admin']))) throw sessions.notFound(params.id)
	await sessions.remove(context, stored)
	context.afterCommit(() => context.callers.forget(organizationId))
	return removed
}

export const accept: Handler<'invitations.accept'> = async ({ body, userAgent }, context) => {
	const { token, name, password } = body
	// Before the costly hash.
	await requireInvitation(context.db, token, context.now)
	const passwordHash = await hashPassword(password, visitorOf(context))
	return startSession(context, userAgent, async (tx) => {
		const write = { db: tx, origin: context.origin }
		const { organizationId, email, role } = await takeInvitation(write, token)
		return createPerson(write, { organizationId, email, name, role, passwordHash })
	})
}
