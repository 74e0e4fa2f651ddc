// A CRM with a few companies and a JSON API, for the demo to connect to. Servers in development have it, and no others: what it keeps is
// anybody's who knows the key below. It is reached as any provider is, through the guard of egress.
import express, { type ErrorRequestHandler, type RequestHandler, type Router } from 'express'
import type { ConnectionConfig } from '../../generated/contract.ts'
import { CrmCompanies, CrmRejection } from './crm-companies.ts'

/** Below the server's URL. */
export const crmPath = '/demo/crm'

/** No secret: it is in the guide, for everybody to try. */
export const crmKey = 'demo-crm-key'

/** The CRM as a connection with `http_json` describes it. */
export const crmConfig = (url: string): ConnectionConfig => ({
	baseUrl: url + crmPath,
	testPath: '/companies?limit=1',
	objects: [
		{
			name: 'companies',
			path: '/companies',
			records: 'data',
			idField: 'id',
			changedField: 'updatedAt',
			sinceParameter: 'since',
			pagination: { style: 'page', parameter: 'page', first: 1 },
			pageSize: { parameter: 'limit', size: 50 },
			lookUpFields: ['domain'],
			readPath: '/companies/{id}',
			create: { path: '/companies', method: 'POST' },
			update: { path: '/companies/{id}', method: 'PATCH' },
			remove: { path: '/companies/{id}', method: 'DELETE' },
		},
	],
})

export function demoCrm(now: () => number): Router {
	const crm = new CrmCompanies(now())
	const router = express.Router()
	const find = (id: string) => crm.get(id)
	const tick: RequestHandler = (_req, _res, next) => {
		crm.tick(now())
		next()
	}
	router.use(requireKey, express.json({ limit: '16kb' }), tick)
	router.get('/companies', ({ query }, res) => {
		const { since, domain } = query
		const limit = numberIn(query.limit, 50)
		const from = (numberIn(query.page, 1) - 1) * limit
		const found = crm
			.list()
			.filter(({ updatedAt }) => typeof since !== 'string' || Date.parse(updatedAt) >= Date.parse(since))
			.filter((company) => typeof domain !== 'string' || company.domain === domain)
		res.json({ data: found.slice(from, from + limit), total: found.length })
	})
	router.post('/companies', ({ body }, res) => void res.status(201).json(crm.create(body, now())))
	router
		.route('/companies/:id')
		.all(({ params: { id } }, res, next) => {
			if (find(id)) next()
			else res.status(404).json({ error: { message: `There is no company ${id}.` } })
		})
		.get(({ params }, res) => void res.json(find(params.id)))
		.patch(({ params, body }, res) => {
			const company = find(params.id)
			if (company) res.json(crm.change(company, body, now()))
		})
		.delete(({ params }, res) => {
			crm.remove(params.id)
			res.status(204).end()
		})
	router.use(rejected)
	return router
}

const numberIn = (value: unknown, otherwise: number) =>
	typeof value === 'string' && /^[1-9]\d{0,2}$/.test(value) ? Number(value) : otherwise

const requireKey: RequestHandler = (req, res, next) => {
	if (req.headers.authorization === `Bearer ${crmKey}`) next()
	else res.status(401).json({ error: { message: 'The demo CRM has another key.' } })
}

const rejected: ErrorRequestHandler = (error, _req, res, next) => {
	const status = error instanceof CrmRejection ? 422 : (error as { status?: number }).status
	if (status === undefined) next(error)
	else res.status(status).json({ error: { message: (error as Error).message } })
}
