// Reads the two documents from files or from git.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { ContractError, isObject, type Json, type Obj } from './document.ts'

const CONTRACT = 'spec/openapi.yaml'

function git(...args: string[]): string {
	return execFileSync('git', args, { encoding: 'utf8', stdio: 'pipe', maxBuffer: 256 * 1024 * 1024 })
}

/** The highest `v1.2.3` tag, a pre-release below its release; undefined before the first release. */
export function newestRelease(): string | undefined {
	try {
		const tags = git('-c', 'versionsort.suffix=-', 'tag', '--list', 'v[0-9]*', '--sort=-version:refname')
		return tags.split('\n').find((tag) => tag !== '')
	} catch {
		throw new ContractError('cannot read the git tags here: run it in the repository, or say --base <file>')
	}
}

/** Reads a file of this name; without one, `<ref>:<path>` of git, or spec/openapi.yaml of `<ref>`. */
export function readBase(name: string): Obj {
	if (existsSync(name)) return readHead(name)
	const object = name.includes(':') ? name : `${name}:${CONTRACT}`
	let content: string
	try {
		content = git('show', '--end-of-options', object)
	} catch {
		throw new ContractError(`--base ${name}: no such file, and git has no ${object}`)
	}
	return parseContract(content, object)
}

export function readHead(path: string): Obj {
	let content: string
	try {
		content = readFileSync(path, 'utf8')
	} catch (error) {
		throw new ContractError(`cannot read ${path} (${error instanceof Error && 'code' in error ? error.code : 'unknown error'})`)
	}
	return parseContract(content, path)
}

function parseContract(content: string, name: string): Obj {
	let document: Json
	try {
		document = parse(content, { logLevel: 'silent' })
	} catch (error) {
		const reason = error instanceof Error ? error.message.split('\n')[0] : String(error)
		throw new ContractError(`${name} is not YAML or JSON: ${reason}`)
	}
	if (!isObject(document)) throw new ContractError(`${name} is not an OpenAPI document`)
	const version = document.openapi
	if (typeof version !== 'string' || !version.startsWith('3.1.')) {
		throw new ContractError(`${name} is not OpenAPI 3.1 (openapi: ${JSON.stringify(version) ?? 'missing'})`)
	}
	return document
}
