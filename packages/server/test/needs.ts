// What some tests need of a machine besides Node and PostgreSQL. Where it is missing they do not run, and the last line of the run says so, and how
// to get it (tools/test/reporter.ts); in CI that is a failure. This is the only place that leaves tests out (needs.test.ts).
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { describe, it, type SuiteOptions, type TestOptions } from 'vitest'
import { findPrevious } from './previous-version.ts'

declare module 'vitest' {
	interface TaskMeta {
		/** What is missing for a suite or a test, and how to get it. */
		missing?: string
	}
}

/** CHROMIUM_PATH names it; the default is one of Debian's, the headless shell first: it is the same engine without the program around it, and the
 * tests take a quarter less CPU. */
export const chromiumPath =
	process.env.CHROMIUM_PATH ?? ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path))

export const redisUrl = process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1:6379'

const runs = (command: string, ...args: string[]) => spawnSync(command, args).status === 0

function answers(url: string): boolean {
	const { hostname, port } = new URL(url)
	const code = `require('node:net').connect(${Number(port || 6379)}, ${JSON.stringify(hostname)}, () => process.exit(0)).setTimeout(5_000, () => process.exit(1))`
	try {
		execFileSync(process.execPath, ['-e', code], { stdio: 'ignore' })
		return true
	} catch {
		return false
	}
}

interface Thing {
	readonly name: string
	readonly getIt: string
	readonly isThere: () => boolean
}

const shell = (name: string): Thing => ({ name, getIt: `apt-get install ${name}`, isThere: () => existsSync(`/usr/bin/${name}`) })

const things = {
	chromium: {
		name: 'Chromium',
		getIt: 'apt-get install chromium-headless-shell',
		isThere: () => chromiumPath !== undefined && existsSync(chromiumPath),
	},
	redis: {
		name: `Redis at ${redisUrl}`,
		getIt: 'apt-get install redis-server, or TEST_REDIS_URL',
		isThere: () => answers(redisUrl),
	},
	pgbouncer: { name: 'PgBouncer', getIt: 'apt-get install pgbouncer', isThere: () => runs('pgbouncer', '--version') },
	pgDump: { name: 'pg_dump', getIt: 'apt-get install postgresql-client', isThere: () => runs('pg_dump', '--version') },
	script: { name: 'script of util-linux', getIt: 'apt-get install bsdutils', isThere: () => runs('script', '--version') },
	history: {
		name: 'version before this one',
		getIt: 'git fetch --unshallow',
		isThere: () => findPrevious() !== undefined,
	},
	bash: shell('bash'),
	zsh: shell('zsh'),
	fish: shell('fish'),
} satisfies Record<string, Thing>
export type Need = keyof typeof things

const missingOf = (need: Need) => {
	const { name, getIt, isThere }: Thing = things[need]
	return isThere() ? undefined : `no ${name} (${getIt})`
}

type Rest<Options, Body> = [body: Body] | [options: Options, body: Body]

/** `describe` and `it` that run where the machine has this. */
export function needs(need: Need) {
	const missing = missingOf(need)
	const left = missing === undefined ? {} : { skip: true, meta: { missing } }
	return {
		describe: (name: string, ...rest: Rest<SuiteOptions, () => void>): void => {
			const [options, body] = rest.length === 1 ? [{}, rest[0]] : rest
			describe(name, { ...options, ...left }, body)
		},
		it: (name: string, ...rest: Rest<TestOptions, () => void | Promise<void>>): void => {
			const [options, body] = rest.length === 1 ? [{}, rest[0]] : rest
			it(name, { ...options, ...left }, body)
		},
	}
}
