// The packed server on the oldest Node that it says it runs on, and on one before: there it says which it needs, in one line.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { neededNode } from '../../packages/server/src/node-version.ts'
import { install, serverFolder } from './folder.ts'

const versions = { oldest: `${neededNode}.0`, before: '22.23.3' }

const folder = install('nodes', (folder) => {
	const nodes = Object.entries(versions).map(([name, version]) => [
		name,
		`npm:node-${process.platform}-${process.arch}@${version}`,
	])
	writeFileSync(join(folder, 'package.json'), JSON.stringify({ dependencies: Object.fromEntries(nodes) }, null, '\t'))
})

function expect(node: keyof typeof versions, args: string[], status: number, said: RegExp): void {
	const file = join(folder, 'node_modules', node, 'bin/node')
	const ran = spawnSync(file, args, { cwd: serverFolder(), encoding: 'utf8', timeout: 60_000 })
	const all = `${ran.stdout}${ran.stderr}`.trim()
	if (ran.status === status && said.test(all)) return
	throw new Error(`Node ${versions[node]} ${args.join(' ')} ends with ${ran.status ?? ran.error}, and says "${all}"`)
}

const command = ['node_modules/@remit/server/bin/remit.js', '--version']
const start = `import { startRemit } from '@remit/server/testing'
	await startRemit().then(async (server) => {
		console.log((await server.remit.companies.list()).data.length)
		await server.close()
	}, ({ message }) => console.log(message))`
const program = ['--input-type=module', '--eval', start]
const reason = `Remit needs Node ${neededNode} or newer and this is v${versions.before}.`.replaceAll('.', '\\.')

expect('oldest', command, 0, /^\d+\.\d+\.\d+$/)
expect('oldest', program, 0, /^0$/)
expect('before', command, 1, new RegExp(`^${reason}.*$`))
expect('before', program, 0, new RegExp(`^${reason}$`))
console.log(`@remit/server runs on Node ${versions.oldest}, and says what it needs on ${versions.before}`)
