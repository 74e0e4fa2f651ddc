// The rival that validates too: Fastify 5 validates requests and serializes answers by the contract's schemas, over the same
// prepared statements. With the argument `duties` it has those of fastify-app.ts.
import { newApp } from './fastify-app.ts'
import { type NewInvoice, Rows } from './rows.ts'
import { idParams, invoiceData, invoiceList, queryOf, schemaOf } from './schemas.ts'

const [file = '', duties] = process.argv.slice(2)
const rows = new Rows(file)
const app = await newApp(duties === 'duties', (authorization) => rows.organizationOf(authorization))

app.get<{ Params: { id: string } }>(
	'/api/invoices/:id',
	{ schema: { params: idParams, response: { 200: invoiceData } } },
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
