// `@remit/server/testing`. It loads the server only where that can run: elsewhere the reason would be a SyntaxError of one of its files.
import { missingNode } from './node-version.ts'
import type * as Testing from './testing-types.d.ts'

export const startRemit: typeof Testing.startRemit = async (options) => {
	const missing = missingNode()
	if (missing) throw new Error(missing)
	const server = await import('./testing-server.ts')
	return server.startRemit(options)
}
