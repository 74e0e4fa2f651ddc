// How much slower this machine is than the one on which the budgets of tests were set.
import { createHash } from 'node:crypto'
import { Ajv2020 } from 'ajv/dist/2020.js'

/** What `work` takes there. */
const referenceSeconds = 0.5

const record = Object.fromEntries(
	Array.from({ length: 60 }, (_, n) => [
		`field${n}`,
		{ type: ['string', 'null'], minLength: 1, maxLength: 200 + n, pattern: `^.{${n},}$` },
	]),
)
const records = Array.from({ length: 2_000 }, (_, n) => ({
	id: `rec_${n}`,
	name: `Record ${n} of many`,
	amount: n * 17,
	tags: ['a', 'b'],
}))

/** What a test server does most: JSON, hashes, and validators that are compiled. */
function work(): void {
	for (let n = 0; n < 30; n++) JSON.parse(JSON.stringify(records))
	for (let n = 0; n < 40; n++)
		createHash('sha256')
			.update(Buffer.alloc(2 ** 20, n))
			.digest()
	const schemas = Array.from({ length: 8 }, (_, n) => ({
		$id: `/${n}`,
		type: 'object',
		properties: record,
		required: Object.keys(record),
	}))
	new Ajv2020({ strict: false, validateSchema: false }).compile({ allOf: schemas })
}

/** At least 1: a fast machine makes no budget smaller. */
export function measureUnit(): number {
	const before = process.threadCpuUsage()
	work()
	const { user, system } = process.threadCpuUsage(before)
	return Math.max(1, (user + system) / 1e6 / referenceSeconds)
}
