import { recordHandlers } from '../http/record-handlers.ts'
import { changeMapping, createMapping, mappings, removeMapping } from './store.ts'

export const { list, get, create, update, remove } = recordHandlers(mappings, '/mappings', {
	create: createMapping,
	change: changeMapping,
	remove: removeMapping,
})
