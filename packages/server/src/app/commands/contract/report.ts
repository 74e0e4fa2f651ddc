// The result of `remit contract verify`: a table for people, JUnit for CI.
import type { Findings, Row } from './findings.ts'
import type { ServerUnderTest } from './server-under-test.ts'

/** Of an operation without a valid request the reason stands where its success would. */
function resultOf({ operation, status, faults, seen }: Row, { notAsked }: Findings): string {
	if (faults.length > 0) return 'FAILED'
	if (seen > 0) return 'ok'
	const reason = status < 300 ? notAsked.get(operation) : undefined
	return reason === undefined ? '-' : `- asked only with bad input: ${reason}`
}

/** A line for each operation, status and code, and below it what is wrong. */
export function tableOf(findings: Findings): string {
	const rows = findings.rows()
	const width = Math.max(...rows.map(({ operation }) => operation.length))
	const codeWidth = Math.max(...rows.map(({ code = '' }) => code.length))
	const lines = rows.flatMap((row) => [
		`${row.operation.padEnd(width)}  ${row.status}  ${(row.code ?? '').padEnd(codeWidth)}  ${resultOf(row, findings)}`,
		...row.faults.map((fault) => `    ${fault}`),
	])
	return [`${'operation'.padEnd(width)}  status ${'code'.padEnd(codeWidth)} result`, ...lines].join('\n')
}

export function summaryOf(findings: Findings, server: ServerUnderTest, seconds: number): string {
	const rows = findings.rows()
	const failed = rows.filter(({ faults }) => faults.length > 0)
	const operations = new Set(rows.map(({ operation }) => operation))
	const asked = rows.filter(({ seen }) => seen > 0)
	const reasons = Map.groupBy(findings.notAsked, ([, reason]) => reason)
	const left = [...server.left].map(([id, count]) => `${count} of ${id}`).join(', ')
	return [
		'',
		...[...reasons].map(([reason, all]) => `asked only with bad input (${reason}): ${all.map(([id]) => id).join(', ')}`),
		`made ${server.madeCount} records and removed what can be${left ? `; left, as there is no way to remove them: ${left}` : ''}`,
		`${operations.size} operations, ${asked.length} of ${rows.length} documented answers seen in ${server.requests} requests, ${seconds.toFixed(1)} s${server.waited > 0 ? `, of which ${server.waited} s for rate limits` : ''}`,
		failed.length === 0 ? 'The server keeps its contract.' : `${failed.length} answers do not keep the contract:`,
		...failed.flatMap(({ operation, status, code, faults }) =>
			faults.map((fault) => `  ${[operation, status, code].filter(Boolean).join(' ')}: ${fault}`),
		),
	].join('\n')
}

/** A test suite for each operation, a case for each status and code; an answer that was not asked for is a skipped one. */
export function junitOf(findings: Findings, seconds: number): string {
	const rows = findings.rows()
	const suites = [...Map.groupBy(rows, ({ operation }) => operation)].map(([operation, cases]) => {
		const counts = `tests="${cases.length}" failures="${cases.filter(({ faults }) => faults.length > 0).length}" skipped="${cases.filter(({ seen, faults }) => seen === 0 && faults.length === 0).length}"`
		return [`<testsuite name="${xml(operation)}" ${counts}>`, ...cases.map((row) => caseOf(row, findings)), '</testsuite>'].join(
			'\n',
		)
	})
	const failures = rows.filter(({ faults }) => faults.length > 0).length
	const head = `<testsuites name="remit contract verify" tests="${rows.length}" failures="${failures}" time="${seconds.toFixed(3)}">`
	return `${['<?xml version="1.0" encoding="UTF-8"?>', head, ...suites, '</testsuites>'].join('\n')}\n`
}

function caseOf(row: Row, findings: Findings): string {
	const { operation, status, code, faults, seen } = row
	const name = xml([status, code].filter(Boolean).join(' '))
	const failures = faults.map((fault) => `<failure message="${xml(fault)}"/>`).join('')
	const inner = failures || (seen === 0 ? skippedOf(resultOf(row, findings).replace(/^- ?/, '')) : '')
	return `<testcase classname="${xml(operation)}" name="${name}"${inner ? `>${inner}</testcase>` : '/>'}`
}

const skippedOf = (reason: string) => (reason === '' ? '<skipped/>' : `<skipped message="${xml(reason)}"/>`)

function xml(text: string): string {
	const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
	// XML 1.0 has no control characters but those of white space.
	const printable = text.replace(/(?!\s)\p{Cc}/gu, '')
	return printable.replace(/[&<>"]/g, (character) => entities[character] ?? '')
}
