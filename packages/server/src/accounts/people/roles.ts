import type { UserRole } from '../../generated/contract.ts'
import type { Caller } from '../../platform/auth/caller.ts'
import { allows } from '../../platform/auth/keys.ts'
import { scopesOfRole } from '../../platform/auth/roles.ts'
import { fieldError } from '../../platform/base/errors.ts'

/** Throws 403 unless the caller may do all that the role may: whoever gives a role could use it. */
export function rejectEscalation(caller: Caller, role: UserRole): void {
	const lacking = scopesOfRole(role).filter((scope) => !allows(caller.scopes, [scope]))
	if (lacking.length === 0) return
	throw fieldError('insufficient_scope', '/role', `The role ${role} may do more than you may: you lack ${lacking.join(', ')}.`)
}
