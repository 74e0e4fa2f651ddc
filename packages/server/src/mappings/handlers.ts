import { type Handler, writeContext } from '../http/handler.ts'
import { recordHandlers } from '../http/record-handlers.ts'
import { previewMapping } from './preview.ts'
import { changeMapping, createMapping, mappings, removeMapping } from './store.ts'

export const { list, get, create, update, remove } = recordHandlers(mappings, '/mappings', {
	create: createMapping,
	change: changeMapping,
	remove: removeMapping,
})

export const preview: Handler<'mappings.preview'> = async ({ params, body, caller }, context) => {
	const mapping = await mappings.find(context.db, caller.organizationId, params.id)
	if (!mapping) throw mappings.notFound(params.id)
	return { status: 200, body: { data: await previewMapping(writeContext(context, caller), mapping, body) } }
}
