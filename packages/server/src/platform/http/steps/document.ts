// The contract as JSON at `/openapi.json`: 0.85 MB, or 106 KB with gzip.
import express, { type Router } from 'express'
import { servedDocument } from '../../contract/document.ts'
import type { Services } from '../../outside/services.ts'
import { rejectMethod } from './find-operation.ts'
import { staticAnswer } from './static-answer.ts'

export function documentRoute(services: Pick<Services, 'baseUrl'>): Router {
	const router = express.Router()
	router.get(
		'/openapi.json',
		staticAnswer(async () => JSON.stringify(servedDocument(services.baseUrl)), {
			'Content-Type': 'application/json; charset=utf-8',
		}),
	)
	router.all('/openapi.json', (req) => {
		rejectMethod(req, ['GET'])
	})
	return router
}
