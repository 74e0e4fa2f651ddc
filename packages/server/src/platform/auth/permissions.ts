// Which callers may call an operation, and which operations change what callers may do.

import type { UserRole } from '../../generated/contract.ts'
import { ApiError } from '../base/errors.ts'
import type { Operation } from '../contract/routes.ts'
import type { Caller } from './caller.ts'
import { mayCall } from './keys.ts'
import { isAtLeast, leastRole } from './roles.ts'

/** Throws 403 unless the caller may call the operation. */
export function requireAllowed(operation: Operation, caller: Caller): void {
	if (caller.session) requirePerson(operation, caller, caller.session.role)
	else requireKey(operation, caller)
}

/**
 * Whether an operation may give or take access, to Remit, to other systems or to money: those for admins, and those about one's own session or
 * password.
 */
export const changesAccess = (operation: Operation): boolean =>
	operation.method !== 'GET' &&
	!operation.public &&
	(operation.sessionOnly === true || operation.scopes.includes('admin') || leastRole(operation) === 'admin')

/** Throws 403 unless a key may call the operation. */
function requireKey(operation: Operation, caller: Caller): void {
	const { scopes, anyScope, sessionOnly, unlimitedKeysOnly } = operation
	if (sessionOnly) throw new ApiError('session_required', 'This is about the session of a person, and an API key has none.')
	if (!mayCall(caller.scopes, operation)) {
		const limit = caller.reach ? ', or is limited to other kinds of records' : ''
		throw new ApiError('insufficient_scope', `The API key lacks the scope ${scopes.join(anyScope ? ' or ' : ', ')}${limit}.`)
	}
	if (unlimitedKeysOnly && caller.reach !== null)
		throw new ApiError(
			'insufficient_scope',
			'This is about the whole organization, and the API key is limited to some kinds of records.',
		)
}

/** Throws 403 unless the role of a person is enough for the operation. */
function requirePerson(operation: Operation, { scopes }: Caller, role: UserRole): void {
	const { sessionOnly, sessionRole } = operation
	if (sessionOnly || (sessionRole ? isAtLeast(role, sessionRole) : mayCall(scopes, operation))) return
	throw new ApiError('insufficient_scope', `This takes the role ${leastRole(operation)}, and yours is ${role}.`)
}
