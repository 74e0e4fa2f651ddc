import { ApiError } from '../../../platform/base/errors.ts'
import type { Handler } from '../../../platform/http/handler.ts'
import { requireEnabled } from '../rules.ts'
import { connections } from '../store.ts'
import { answering } from './failures.ts'
import { describeObject, UnknownObject } from './records.ts'

export const schema: Handler<'connections.objects.schema'> = async ({ params, caller, signal }, { db, services, now }) => {
	const { organizationId } = caller
	requireEnabled(await connections.existing(db, organizationId, params.id))
	const key = { organizationId, connectionId: params.id, object: params.name }
	try {
		const calls = { db, services, now: () => now, signal: signal() }
		const { fields, allBelow: _, lookUpFields: __, ...found } = await answering(() => describeObject(calls, key))
		return { status: 200, body: { data: { ...found, fields: [...fields] } } }
	} catch (error) {
		if (error instanceof UnknownObject) throw new ApiError('connection_object_not_found', error.message)
		throw error
	}
}
