// The contract as JSON at `/openapi.json`: 0.85 MB, or 106 KB with gzip.
import express, { type Router } from 'express'
import { documentText } from '../../contract/document.ts'
import { rejectMethod } from './find-operation.ts'
import { staticAnswer } from './static-answer.ts'

export function documentRoute(): Router {
	const router = express.Router()
	router.get(
		'/openapi.json',
		staticAnswer(async () => documentText, { 'Content-Type': 'application/json; charset=utf-8' }),
	)
	router.all('/openapi.json', (req) => {
		rejectMethod(req, ['GET'])
	})
	return router
}
