// The rival that validates too: Fastify 5 validates requests and serializes answers by the contract's schemas, over the same
// prepared statements. With the argument `duties` it also logs each request, counts it against a limit and gives it an id, as Remit does.
import { randomUUID } from 'node:crypto'
import rateLimit from '@fastify/rate-limit'
import Fastify from 'fastify'
import { formats } from '../../server/src/contract/formats.ts'
import { type NewInvoice, Rows } from './rows.ts'
import { invoiceData, invoiceList, queryOf, schemaOf } from './schemas.ts'

declare module 'fastify' {
	interface FastifyRequest {
		organizationId: string
	}
}

const [file = '', duties] = process.argv.slice(2)
const rows = new Rows(file)

const ajvFormats = Object.fromEntries(Object.entries(formats).map(([name, { type, validate }]) => [name, { type, validate }]))
const app = Fastify({
	...(duties === 'duties' && { logger: true, genReqId: () => `req_${randomUUID()}` }),
	ajv: { customOptions: { removeAdditional: false, coerceTypes: 'array', strict: false, formats: ajvFormats as never } },
})

app.decorateRequest('organizationId', '')
app.addHook('onRequest', (req, reply, done) => {
	const organizationId = rows.organizationOf(req.headers.authorization)
	if (organizationId === undefined) return void reply.code(401).send({ error: 'unauthorized' })
	req.organizationId = organizationId
	done()
})

if (duties === 'duties') {
	await app.register(rateLimit, { max: 1e9, timeWindow: 60_000, hook: 'preHandler', keyGenerator: (req) => req.organizationId })
	app.addHook('onSend', (req, reply, _, done) => {
		reply.header('x-request-id', req.id)
		done()
	})
}

const id = { type: 'object', required: ['id'], properties: { id: schemaOf('Id') } }

app.get<{ Params: { id: string } }>(
	'/api/invoices/:id',
	{ schema: { params: id, response: { 200: invoiceData } } },
	(req, reply) => {
		const data = rows.invoice(req.organizationId, req.params.id)
		if (data) reply.send({ data })
		else reply.code(404).send({ error: 'not found' })
	},
)

app.get<{ Querystring: Record<string, string> & { status?: string[] } }>(
	'/api/invoices',
	{ schema: { querystring: queryOf('/api/invoices'), response: { 200: invoiceList } } },
	(req, reply) => {
		const { status, limit, offset } = req.query
		reply.send({ data: rows.invoices(req.organizationId, { status: status?.[0], limit, offset }) })
	},
)

app.get<{ Querystring: Record<string, string> }>(
	'/api/companies',
	{ schema: { querystring: queryOf('/api/companies'), response: { 200: schemaOf('CompanyList') } } },
	(req, reply) => {
		reply.send(rows.companies(req.organizationId, req.query))
	},
)

app.post<{ Body: NewInvoice }>(
	'/api/invoices',
	{ schema: { body: schemaOf('InvoiceInput'), response: { 201: schemaOf('InvoiceCreated') } } },
	(req, reply) => {
		reply.code(201).send(rows.create(req.organizationId, req.body))
	},
)

console.log(JSON.stringify({ url: await app.listen({ port: 0, host: '127.0.0.1' }) }))
