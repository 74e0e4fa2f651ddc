// What people may do: each role has the scopes that an API key would need for it, and those of the role before.
import type { UserRole } from '../../generated/contract.ts'
import { mayCall, type Scope, scopes } from './keys.ts'

const member: readonly Scope[] = [
	'read',
	'organization:read',
	'tax_rates:read',
	...(['companies', 'contacts', 'deals', 'invoices', 'payments', 'time_entries'] as const).flatMap(
		(kind) => [`${kind}:read`, `${kind}:write`] as const,
	),
]
const manager: readonly Scope[] = [...member, 'write', 'tax_rates:write']

const scopesByRole: Readonly<Record<string, readonly Scope[]>> = { member, manager, admin: scopes }

/** From the lowest to the highest. */
export const roles: readonly UserRole[] = ['member', 'manager', 'admin']

/** None for a role of a later version: who it is for can be told by that version alone. */
export const scopesOfRole = (role: UserRole): readonly Scope[] => scopesByRole[role] ?? []

export const isAtLeast = (role: UserRole, least: UserRole): boolean => roles.indexOf(role) >= roles.indexOf(least)

interface Required {
	readonly scopes: readonly string[]
	readonly anyScope?: boolean
	readonly sessionRole?: UserRole
}

/** The lowest role that may call an operation. */
export const leastRole = ({ sessionRole, ...required }: Required): UserRole =>
	sessionRole ?? roles.find((role) => mayCall(new Set(scopesOfRole(role)), required)) ?? 'admin'
