// Whether the tests of the SDK notice when its transport is wrong: each mutation below changes one place of a source as it is loaded,
// and some test must fail. Prints the first that does; ends with 1 when none does. Takes a few seconds for each: `node tools/sdk-mutations.ts`.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { startVitest } from 'vitest/node'

const root = resolve(import.meta.dirname, '..')
const source = (name: string) => join(root, 'packages/sdk/src', name)

interface Mutation {
	readonly what: string
	readonly file: string
	readonly from: string
	readonly to: string
}

const mutations: readonly Mutation[] = [
	{
		what: 'a create is sent again without a key',
		file: 'transport.ts',
		from: "call.repeat === 'key' && retries > 0 && { idempotencyKey: newKey() }",
		to: 'false as const',
	},
	{
		what: 'each try has a key of its own',
		file: 'transport.ts',
		from: '				attempts++\n',
		to: "				attempts++\n				if (attempts > 1) new Headers(request.init.headers).set('Idempotency-Key', newKey())\n				if (attempts > 1 && call.repeat === 'key') request.init.headers = { ...Object.fromEntries(new Headers(request.init.headers)), 'Idempotency-Key': newKey() }\n",
	},
	{
		what: 'the key of the caller is replaced',
		file: 'transport.ts',
		from: '...ownKey, ...options }',
		to: '...options, ...ownKey }',
	},
	{
		what: 'what must not be repeated is sent again',
		file: 'transport.ts',
		from: "method === 'GET' || call.repeat ? maxRetries : 0",
		to: 'maxRetries',
	},
	{ what: 'one try too many', file: 'transport.ts', from: 'tries > retries', to: 'tries > retries + 1' },
	{ what: 'a pause past the timeout is waited for', file: 'transport.ts', from: '|| pause >= deadline.left()', to: '' },
	{
		what: 'an error of the caller is sent again',
		file: 'retries.ts',
		from: 'passingStatuses.includes(error.status)',
		to: 'error.status >= 400',
	},
	{ what: '503 is not sent again', file: 'retries.ts', from: '[408, 429, 502, 503, 504]', to: '[408, 429, 502, 504]' },
	{
		what: 'Retry-After is not read',
		file: 'retries.ts',
		from: "secondsOf(headers.get('retry-after'))",
		to: 'undefined as number | undefined',
	},
	{
		what: 'the clock of the server is not read',
		file: 'retries.ts',
		from: "Date.parse(headers.get('date') ?? '')",
		to: 'Number.NaN',
	},
	{ what: 'pauses do not grow', file: 'retries.ts', from: '2 ** tries', to: '1' },
	{ what: 'redirects are followed', file: 'transport.ts', from: "redirect: 'manual'", to: "redirect: 'follow'" },
	{ what: 'an id may reach another URL', file: 'transport.ts', from: '!/^\\.{0,2}$|[/\\\\]/.test(value)', to: 'true' },
	{
		what: 'the timeout does not abort',
		file: 'deadline.ts',
		from: 'controller.abort(new TimeoutError(timeout))',
		to: 'undefined',
	},
	{
		what: 'the signal of the caller is not heard',
		file: 'deadline.ts',
		from: "callerSignal?.addEventListener('abort', abort)",
		to: '',
	},
	{ what: 'an empty file is taken', file: 'transport.ts', from: 'bytes.length > 0 && ', to: '' },
	{ what: 'the limit of a page is left to the server', file: 'transport.ts', from: ', limit: span.limit }', to: ' }' },
	{ what: 'steps run in the other order', file: 'middleware.ts', from: 'reduceRight', to: 'reduce' },
]

/** The name of a test that fails with the mutation; undefined when all pass. */
async function killerOf({ file, from, to }: Mutation): Promise<string | undefined> {
	const path = source(file)
	if (readFileSync(path, 'utf8').split(from).length !== 2) throw new Error(`${file} must have this once: ${from}`)
	const plugin = {
		name: 'mutation',
		enforce: 'pre' as const,
		transform: (code: string, id: string) => (id === path ? code.replace(from, () => to) : undefined),
	}
	const options = {
		config: false as const,
		root,
		include: ['packages/sdk/src/**/*.test.ts'],
		watch: false,
		bail: 1,
		reporters: [{}],
		pool: 'forks' as const,
		// A changed source must not be kept for other runs.
		fsModuleCache: false,
	}
	const overrides = {
		resolve: { conditions: ['remit-source'] },
		ssr: { resolve: { conditions: ['remit-source'] } },
		plugins: [plugin],
	}
	const vitest = await startVitest('test', [], options, overrides)
	const modules = vitest.state.getTestModules()
	const failed = modules.flatMap((module) => [...module.children.allTests('failed')])
	const broken = modules.filter((module) => module.errors().length > 0)
	await vitest.close()
	process.exitCode = 0
	return failed[0]?.fullName ?? (broken[0] && `${broken[0].moduleId} does not load`)
}

const unchanged = { what: '', file: 'retries.ts', from: '2 ** tries', to: '2 ** tries' }
const failing = await killerOf(unchanged)
if (failing !== undefined) throw new Error(`without a mutation this fails: ${failing}`)

let survivors = 0
for (const mutation of mutations) {
	const killer = await killerOf(mutation)
	if (killer === undefined) survivors++
	console.log(`${killer === undefined ? '✗' : '✓'} ${mutation.what}: ${killer ?? 'no test fails'}`)
}
console.log(`${mutations.length - survivors} of ${mutations.length} mutations are noticed`)
process.exitCode = survivors > 0 ? 1 : 0
