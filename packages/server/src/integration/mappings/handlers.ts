import type { MappingCreate } from '../../generated/contract.ts'
import { type Handler, type SelfManagedContext, writeContext } from '../../platform/http/handler.ts'
import { answerPageOfAll, recordAnswers, removed } from '../../platform/http/record-handlers.ts'
import { defaultsOf } from './defaults.ts'
import { fieldsThere } from './schemas.ts'
import { changeMapping, createMapping, mappings, removeMapping } from './store.ts'

const answers = recordAnswers(mappings, '/mappings')

export const { list, get } = answers

export const remove: Handler<'mappings.delete'> = async (call, context) => {
	await removeMapping(writeContext(context, call.caller), await answers.lock(call, context.db))
	return removed
}

const callsOf = ({ db, services, now }: SelfManagedContext, signal: AbortSignal) => ({ db, services, now: () => now, signal })

export const create: Handler<'mappings.create'> = async ({ body, caller, signal }, context) => {
	const there = await fieldsThere(callsOf(context, signal()), { ...body, organizationId: caller.organizationId })
	return context.commit(async (tx, origin) =>
		answers.created(await createMapping(writeContext({ db: tx, origin }, caller), body, there)),
	)
}

export const update: Handler<'mappings.update'> = async (call, context) => {
	const { body, caller, params, signal } = call
	const before = await mappings.find(context.db, caller.organizationId, params.id)
	if (!before) throw mappings.notFound(params.id)
	const there = await fieldsThere(callsOf(context, signal()), { ...before, ...body })
	return context.commit(async (tx, origin) => {
		const stored = await answers.lock(call, tx)
		return answers.changed(await changeMapping(writeContext({ db: tx, origin }, caller), stored, body, there))
	})
}

export const listDefaults: Handler<'mappings.defaults.list'> = (call, context) =>
	answerPageOfAll<MappingCreate>('mapping defaults', call, context, defaultsOf(call.query.provider))
