// What the rivals on Fastify 5 share: the check of the key, the contract's formats, and with `hasDuties` what Remit does for each request
// too: a line in the log, a count against a limit, and an id.
import { randomUUID } from 'node:crypto'
import rateLimit from '@fastify/rate-limit'
import Fastify, { type FastifyInstance } from 'fastify'
import { formats } from '../../server/src/platform/contract/formats.ts'

declare module 'fastify' {
	interface FastifyRequest {
		organizationId: string
	}
}

type FindOrganization = (authorization: string) => string | undefined | Promise<string | undefined>

export async function newApp(hasDuties: boolean, organizationOf: FindOrganization): Promise<FastifyInstance> {
	const ajvFormats = Object.fromEntries(Object.entries(formats).map(([name, { type, validate }]) => [name, { type, validate }]))
	const app = Fastify({
		...(hasDuties && { logger: true, genReqId: () => `req_${randomUUID()}` }),
		ajv: { customOptions: { removeAdditional: false, coerceTypes: 'array', strict: false, formats: ajvFormats as never } },
	}) as unknown as FastifyInstance
	app.decorateRequest('organizationId', '')
	app.addHook('onRequest', (req, reply, done) => {
		const go = (organizationId: string | undefined) => {
			if (organizationId === undefined) return void reply.code(401).send({ error: 'unauthorized' })
			req.organizationId = organizationId
			done()
		}
		const found = organizationOf(req.headers.authorization ?? '')
		if (found instanceof Promise) found.then(go, done)
		else go(found)
	})
	if (hasDuties) {
		await app.register(rateLimit, { max: 1e9, timeWindow: 60_000, hook: 'preHandler', keyGenerator: (req) => req.organizationId })
		app.addHook('onSend', (req, reply, _, done) => {
			reply.header('x-request-id', req.id)
			done()
		})
	}
	return app
}
