import { withoutOrder } from '../../../platform/db/write-context.ts'
import { type Handler, writeContext } from '../../../platform/http/handler.ts'
import { answering } from '../../connections/records/failures.ts'
import { mappings } from '../store.ts'
import { previewMapping } from './preview.ts'

export const preview: Handler<'mappings.preview'> = async ({ params, body, caller, signal }, { db, services, now, origin }) => {
	const mapping = await mappings.existing(db, caller.organizationId, params.id)
	const calls = { db, services, now: () => now, signal: signal() }
	const write = writeContext({ db, origin: withoutOrder(origin) }, caller)
	return { status: 200, body: { data: await answering(() => previewMapping(write, calls, mapping, body)) } }
}
