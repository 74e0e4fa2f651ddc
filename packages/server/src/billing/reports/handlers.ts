import type { Handler } from '../../platform/http/handler.ts'
import { readSummary } from './summary.ts'

export const summary: Handler<'reports.summary'> = async ({ caller }, { db, now }) => ({
	status: 200,
	body: { data: await readSummary(db, caller.organization, now) },
})
