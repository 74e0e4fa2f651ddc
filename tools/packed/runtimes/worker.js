// The calls as a worker, with its settings as bindings.
import { calls } from './calls.js'

export default {
	async fetch(_request, { apiKey, baseUrl }) {
		return new Response(await calls({ apiKey, baseUrl }).catch((error) => `${error.stack}`))
	},
}
