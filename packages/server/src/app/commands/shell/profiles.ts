// Profiles: servers and keys by name, in a file of the user. `--profile` of a command uses one.
import { readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Command, Option } from 'commander'
import { isOpenToOthers, makePrivateFolder } from '../../../platform/base/private-files.ts'
import { command, print, UsageError } from '../command.ts'

interface Profile {
	readonly url: string
	readonly apiKey: string
}

type Profiles = Readonly<Record<string, Profile>>

const folder = () => join(homedir(), '.config/remit')
const file = () => join(folder(), 'profiles.json')

function readProfiles(): Profiles {
	let text: string
	try {
		text = readFileSync(file(), 'utf8')
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
		throw new UsageError(`${file()}: ${(error as Error).message}`)
	}
	if (isOpenToOthers(file()))
		throw new UsageError(`${file()}: others may read the keys in it: chmod 600 it, and replace the keys`)
	try {
		return JSON.parse(text)
	} catch (error) {
		throw new UsageError(`${file()}: is not JSON: ${(error as Error).message}`)
	}
}

function writeProfiles(profiles: Profiles): void {
	makePrivateFolder(folder())
	// One that is there is private already, or `readProfiles` has thrown.
	writeFileSync(file(), `${JSON.stringify(profiles, null, '\t')}\n`, { mode: 0o600 })
}

/** Lets a profile stand for `--url` and `--api-key`, which win over it; it wins over the environment. */
export const profileOption = (command: Command): Command =>
	command
		.addOption(new Option('--profile <name>', 'a server and key of remit profiles save').env('REMIT_PROFILE'))
		.hook('preAction', (_, action) => {
			const name = action.opts<{ profile?: string }>().profile?.trim()
			if (name === undefined) return
			const profiles = readProfiles()
			const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined
			if (!profile) throw new UsageError(`--profile ${name}: there is none of this name; remit profiles list shows them`)
			for (const key of ['url', 'apiKey'] as const)
				if (action.getOptionValueSource(key) !== 'cli') action.setOptionValueWithSource(key, profile[key], 'config')
		})

export function serverUrl(given: string): string {
	const url = given.trim()
	const { protocol = '', username, password, search, hash } = URL.parse(url) ?? {}
	// It may have a password, so it is not told.
	if (username || password || search || hash) throw new UsageError('--url: must have no user name, password, query or fragment')
	if (/^https?:$/.test(protocol)) return url
	throw new UsageError(`--url ${url}: must be an http or https URL, such as https://remit.example`)
}

export function addProfileCommands(program: Command): void {
	const profiles = program.command('profiles').description('Servers and keys by name, for --profile of other commands.')

	command(profiles, 'save', 'Save a server and a key, which is asked for or read from standard input.')
		.argument('<name>', 'such as staging')
		.requiredOption('--url <url>', 'the Remit server')
		.action(async (name: string, options: { url: string; json?: boolean }) => {
			if (!/^[\w.-]{1,64}$/.test(name)) throw new UsageError(`${name}: a name has letters, digits, and . _ - alone`)
			const url = serverUrl(options.url)
			const { secretOf } = await import('./secret.ts')
			const apiKey = await secretOf('API key')
			if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new UsageError('The key must be on one line, such as rmt_…')
			writeProfiles({ ...readProfiles(), [name]: { url, apiKey } })
			print(options, { name, url }, `Saved ${name} in ${file()}.`)
		})

	command(profiles, 'list', 'List profiles, without their keys.').action((options) => {
		const found = Object.entries(readProfiles()).map(([name, { url, apiKey }]) => ({ name, url, lastFour: apiKey.slice(-4) }))
		print(options, found, found.map(({ name, url, lastFour }) => `${name}  ${url}  …${lastFour}`).join('\n') || 'None.')
	})

	command(profiles, 'remove', 'Remove a profile.')
		.argument('<name>', 'its name')
		.action((name: string, options) => {
			const { [name]: removed, ...others } = readProfiles()
			if (!removed) throw new UsageError(`${name}: there is none of this name`)
			writeProfiles(others)
			print(options, { ok: true }, `Removed ${name}.`)
		})
}

/** For completion. */
export function profileNames(): string[] {
	try {
		return Object.keys(readProfiles())
	} catch {
		return []
	}
}
