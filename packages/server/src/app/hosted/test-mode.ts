// A server that others than its own machine can reach should have no made-up invoices and take no made-up payments. It may all
// the same, for a demonstration: then its log and its pages say so.

import { listDemoOrganizations } from '../../accounts/doors.ts'
import type { Db } from '../../platform/db/database.ts'

const isReachable = (host: string) => !/^(localhost|127(\.\d+){3}|::1)$/.test(host)

/** A line for the log of the start; undefined when nobody else reaches the server, or payments are real. */
export function testProcessorWarning(host: string, processor: string | undefined): string | undefined {
	if (!isReachable(host) || processor !== 'test') return undefined
	return `PAYMENT_PROCESSOR is test and others can reach HOST=${host}: whoever opens an invoice can mark it as paid`
}

/** A line for the log of the start; undefined when nobody else reaches the server, or nothing is made up. */
export async function demoWarning(db: Db, host: string): Promise<string | undefined> {
	const demos = isReachable(host) ? await listDemoOrganizations(db) : []
	if (demos.length === 0) return undefined
	return `there is demo data (${demos.join(', ')}) and others can reach HOST=${host}: do not use it for real invoices`
}

/** What the page of an organization's invoice warns of. */
export async function pageNotice(
	db: Db,
	{ host, processor, organizationId }: { host: string; processor: string | undefined; organizationId: string },
): Promise<'demo' | 'testMode' | undefined> {
	if (!isReachable(host)) return undefined
	if ((await listDemoOrganizations(db, { organizationId })).length > 0) return 'demo'
	return processor === 'test' ? 'testMode' : undefined
}
