// `remit contract verify` as in others' CI: the packed command asks the packed server, in an organization made for it and erased after.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve, serverFolder } from './folder.ts'

const data = mkdtempSync(join(tmpdir(), 'remit-verify-'))
const junit = join(data, 'contract.xml')
const env = { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: data }

function remit(...args: string[]): string {
	const options = { cwd: serverFolder(), env, encoding: 'utf8' } as const
	const { status, stdout, stderr } = spawnSync('npx', ['--no-install', 'remit', ...args], options)
	if (status !== 0) throw new Error(`remit ${args.slice(0, 2).join(' ')} ends with ${status}: ${stdout}${stderr}`)
	return stdout
}

// In development it calls receivers on its own machine, of which the server is one here.
const { url, stop } = await serve({ DATA_DIR: data, NODE_ENV: 'development' })
try {
	const { organizationId } = JSON.parse(remit('organizations', 'create', '--name', 'Contract verification', '--json'))
	const { key } = JSON.parse(remit('keys', 'create', '--organization', organizationId, '--scopes', 'all', '--json'))
	const told = remit('contract', 'verify', '--url', url, '--api-key', key, '--junit', junit)
	const [, tests = 0, failures = 1] = /<testsuites [^>]*tests="(\d+)" failures="(\d+)"/.exec(readFileSync(junit, 'utf8')) ?? []
	if (Number(failures) > 0 || Number(tests) < 1000) throw new Error(`the JUnit file has ${tests} tests and ${failures} failures`)
	remit('organizations', 'erase', organizationId, '--yes')
	console.log(told.split('\n').slice(-3).join('\n'))
} finally {
	await stop()
	rmSync(data, { recursive: true, force: true })
}
