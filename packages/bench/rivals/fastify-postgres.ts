// The rival on PostgreSQL: Fastify 5 over a pool of pg with named statements, which reads an invoice. It validates the request and
// serializes the answer by the contract's schemas. With the argument `duties` it has those of fastify-app.ts.
import { hash } from 'node:crypto'
import { fields } from '../../server/src/generated/tables.ts'
import { loadPostgres } from '../server-modules.ts'
import { newApp } from './fastify-app.ts'
import { derived, parsed, startOfDay } from './rows.ts'
import { idParams, invoiceData } from './schemas.ts'

const [url = '', duties] = process.argv.slice(2)
const { Pool, types } = loadPostgres()
types.setTypeParser(types.builtins.INT8, Number)
/** As many as Remit reads with. */
const pool = new Pool({ connectionString: url, max: 8 })

const columns = Object.keys(fields.Invoice).map((name) => (name in derived ? `${derived[name]} as "${name}"` : `"${name}"`))
const text = `select ${columns.join(', ')} from invoices where "organizationId" = $2 and id = $3`.replaceAll('+?', '$1')

const organizations = new Map<string, string>()
const app = await newApp(duties === 'duties', async (authorization) => {
	const keyHash = hash('sha256', authorization.slice('Bearer '.length), 'base64url')
	const known = organizations.get(keyHash)
	if (known !== undefined) return known
	const found = await pool.query('select "organizationId" from api_keys where hash = $1 and "revokedAt" is null', [keyHash])
	const organizationId = found.rows[0]?.organizationId as string | undefined
	if (organizationId !== undefined) organizations.set(keyHash, organizationId)
	return organizationId
})

app.get<{ Params: { id: string } }>(
	'/api/invoices/:id',
	{ schema: { params: idParams, response: { 200: invoiceData } } },
	async (req, reply) => {
		const { rows } = await pool.query({ name: 'invoice', text, values: [startOfDay(), req.organizationId, req.params.id] })
		const [row] = rows
		if (!row) return reply.code(404).send({ error: 'not found' })
		for (const name of parsed) if (typeof row[name] === 'string') row[name] = JSON.parse(row[name])
		return { data: row }
	},
)

console.log(JSON.stringify({ url: await app.listen({ port: 0, host: '127.0.0.1' }) }))
