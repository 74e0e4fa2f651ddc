// Who is signed in and what they may do, and how their organization writes amounts and times.
import type { CurrentSession, OrganizationSettings, UserRole } from '@remit/sdk'
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { isSessionOver, NoCookies } from './errors.ts'
import { call } from './query.ts'
import { remit } from './remit.ts'
import { tellTabs } from './session-over.ts'

export interface Session {
	/** Whose drafts the browser keeps. */
	readonly personId: string
	readonly sessionId: string
	readonly name: string
	readonly email: string
	readonly role: UserRole
	readonly organization: { readonly id: string; readonly name: string; readonly locale: string; readonly publishDrafts: boolean }
	/** By which this browser writes amounts and dates. */
	readonly locale: string
	readonly timeZone: string
	readonly currency: string
	/** Whether the person has a scope, such as `tax_rates:write` or `admin`. The server decides; this only hides what it would refuse. */
	may(scope: string): boolean
	/** Whether the person has at least this role. */
	is(role: 'manager' | 'admin'): boolean
}

const localeSetting = 'remit locale'

/** The language tag by which this browser writes amounts and dates; null: that of the organization. */
export function ownLocale(): string | null {
	try {
		return Intl.getCanonicalLocales(localStorage.getItem(localeSetting) ?? [])[0] ?? null
	} catch {
		return null
	}
}

export function setOwnLocale(locale: string | null): void {
	if (locale === null) localStorage.removeItem(localeSetting)
	else localStorage.setItem(localeSetting, locale)
}

const sessionOf = ({ id, user, scopes }: CurrentSession, organization: OrganizationSettings): Session => ({
	personId: user.id,
	sessionId: id,
	name: user.name,
	email: user.email,
	role: user.role,
	organization: {
		id: organization.id,
		name: organization.name,
		locale: organization.locale,
		publishDrafts: organization.publishDrafts,
	},
	locale: ownLocale() ?? organization.locale,
	timeZone: organization.timeZone,
	currency: organization.defaultCurrency,
	may: (scope) => scopes.some((granted) => granted === scope),
	is: (role) => user.role === 'admin' || user.role === role,
})

const tabOwner = 'remit person'

function noteTabOwner(personId: string): void {
	try {
		sessionStorage.setItem(tabOwner, personId)
	} catch {
		// A browser may forbid it: then it keeps no drafts either.
	}
}

/** Whether the tab showed pages to another person before. */
export function isTabOfAnother(personId: string): boolean {
	try {
		return ![null, personId].includes(sessionStorage.getItem(tabOwner))
	} catch {
		return false
	}
}

/** Begins with the name of the resource, so that a write of the organization refreshes it. */
export const sessionQuery = queryOptions({
	queryKey: ['session'],
	queryFn: async ({ signal }): Promise<Session> => {
		const session = sessionOf(...(await Promise.all([call('session.get', { signal }), call('organization.get', { signal })])))
		noteTabOwner(session.personId)
		return session
	},
	staleTime: 60_000,
})

export const useSession = (): Session => useSuspenseQuery(sessionQuery).data

/** Who is signed in; undefined when nobody is. */
async function whoIsIt(): Promise<CurrentSession | undefined> {
	try {
		return await remit.session.get()
	} catch (error) {
		if (isSessionOver(error)) return undefined
		throw error
	}
}

/** Whether the browser is still in this session. */
export const isStill = async (sessionId: string): Promise<boolean> => (await whoIsIt())?.id === sessionId

/** Whom the OpenID Connect provider has signed in; throws when the browser does not keep the session. */
export async function arrive(): Promise<string> {
	const session = await whoIsIt()
	if (!session) throw new NoCookies()
	tellTabs(session.user.id)
	return session.user.id
}

/** Begins a session, and makes sure that the browser keeps it. Returns the id of the person. */
export async function enter(begin: Promise<CurrentSession>): Promise<string> {
	const { id, user } = await begin
	if (!(await isStill(id))) throw new NoCookies()
	tellTabs(user.id)
	return user.id
}

export async function signOut(): Promise<void> {
	try {
		await remit.session.delete()
	} catch (error) {
		if (!isSessionOver(error)) throw error
	}
	tellTabs(null)
}
