import type { User } from '../../generated/contract.ts'
import type { Caller } from '../../platform/auth/caller.ts'
import { allows } from '../../platform/auth/keys.ts'
import { ApiError } from '../../platform/base/errors.ts'
import type { Handler } from '../../platform/http/handler.ts'
import { recordAnswers, removed } from '../../platform/http/record-handlers.ts'
import { rejectEscalation } from './roles.ts'
import { changePerson, removePerson, users } from './store.ts'

const answers = recordAnswers<User, object>(users, '/api/users')

export const { list, get } = answers

const isAdmin = ({ scopes }: Caller) => allows(scopes, ['admin'])

export const update: Handler<'users.update'> = async (call, context) => {
	const { body, caller } = call
	const stored = await lockPresent(call, context.db)
	const isOwnName = caller.id === stored.id && body.role === undefined
	if (!isOwnName && !isAdmin(caller))
		throw new ApiError('insufficient_scope', 'Only an admin changes other people, and roles. You may change your own name.')
	if (body.role !== undefined && body.role !== stored.role) rejectEscalation(caller, body.role)
	const user = await changePerson(context, stored, body)
	// The role of a session acts at once.
	context.afterCommit(() => context.callers.forget(caller.organizationId))
	return answers.changed(user)
}

export const remove: Handler<'users.delete'> = async (call, context) => {
	const stored = await answers.lock(call, context.db)
	await removePerson(context, stored)
	context.afterCommit(() => context.callers.forget(call.caller.organizationId))
	return removed
}

/** The person, locked; 404 for one who was removed. */
async function lockPresent(call: Parameters<typeof answers.lock>[0], db: Parameters<typeof answers.lock>[1]): Promise<User> {
	const user = await answers.lock(call, db)
	if (user.removedAt !== null) throw users.notFound(user.id)
	return user
}
