// The API reference at `/docs`: Swagger UI, from its package. It shows the contract to people, and sends the requests that they
// try with the key that they enter.
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import express, { type RequestHandler, type Router } from 'express'
import { rejectMethod } from '../../platform/http/steps/find-operation.ts'
import { staticAnswer } from '../../platform/http/steps/static-answer.ts'
import type { Services } from '../../platform/outside/services.ts'
import { thirdPartyFile } from '../../platform/third-party/files.ts'
import { script, sheet, swaggerFiles } from '../../platform/third-party/swagger-ui.ts'
import { page, pageHeaders } from './page.ts'

const { version }: { version: string } = JSON.parse(readFileSync(thirdPartyFile('swagger-ui-dist/package.json'), 'utf8'))

export function referenceRoutes(services: Pick<Services, 'baseUrl'>): Router {
	const router = express.Router()
	const get = (path: string, handler: RequestHandler) =>
		router
			.route(path)
			.get(handler)
			.all((req) => rejectMethod(req, ['GET']))
	const own = (name: string) => () => readFile(new URL(name, import.meta.url))
	const shared = { 'Cross-Origin-Resource-Policy': 'same-origin' }
	const changing = { ...shared, 'Cache-Control': 'no-cache' }
	const lasting = { ...shared, 'Cache-Control': 'public, max-age=31536000, immutable' }
	get(
		'/docs',
		staticAnswer(async () => page(version), pageHeaders),
	)
	get('/docs/start.js', staticAnswer(own('start.js'), { ...changing, 'Content-Type': script }))
	get('/docs/style.css', staticAnswer(own('style.css'), { ...changing, 'Content-Type': sheet }))
	// Loaded on the first request, as most processes get none.
	const document = async () => (await import('./document.ts')).referenceDocument(services.baseUrl)
	get('/docs/openapi.json', staticAnswer(document, { ...changing, 'Content-Type': 'application/json; charset=utf-8' }))
	for (const [name, type] of Object.entries(swaggerFiles)) {
		const read = () => readFile(thirdPartyFile(`swagger-ui-dist/${name}`))
		get(`/docs/${version}/${name}`, staticAnswer(read, { ...lasting, 'Content-Type': type }))
	}
	return router
}
