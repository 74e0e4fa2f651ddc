// The contract as JSON at `/openapi.json`: 1.1 MB, or 65 KB compressed.
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
