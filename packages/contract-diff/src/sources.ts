// Reads a document from a file, a URL, git or standard input, and knows the line of each of its elements.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { text as textOf } from 'node:stream/consumers'
import { type Document, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'
import { ContractError, isObject, type Obj } from './document.ts'

export interface Source {
	/** As the user named it. */
	readonly name: string
	readonly document: Obj
	/** The line and column of what a pointer names, or of the nearest element around it. */
	positionOf(pointer: string): Position
}

interface Position {
	readonly line: number
	readonly column: number
}

/** A URL that answers nothing must not hold a pipeline. */
const FETCH_TIMEOUT_MS = 30_000

export async function readSource(name: string): Promise<Source> {
	return parseContract(await contentOf(name), name)
}

async function contentOf(name: string): Promise<string> {
	if (name === '-') return textOf(process.stdin)
	if (/^https?:\/\//.test(name)) return download(name)
	// `main:openapi.yaml`, unless there is a file of that name.
	if (name.includes(':') && !existsSync(name)) return fromGit(name)
	try {
		return readFileSync(name, 'utf8')
	} catch (error) {
		throw new ContractError(`cannot read ${name} (${error instanceof Error && 'code' in error ? error.code : 'unknown error'})`)
	}
}

async function download(url: string): Promise<string> {
	try {
		const response = await fetch(url, { signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) })
		if (response.ok) return await response.text()
		throw new ContractError(`${url} answers ${response.status}`)
	} catch (error) {
		if (error instanceof ContractError) throw error
		const { cause, message } = error as Error
		throw new ContractError(`cannot read ${url}: ${cause instanceof Error && cause.message ? cause.message : message}`)
	}
}

function fromGit(object: string): string {
	try {
		const options = { encoding: 'utf8', stdio: 'pipe', maxBuffer: 256 * 1024 * 1024 } as const
		return execFileSync('git', ['show', '--end-of-options', object], options)
	} catch {
		throw new ContractError(`cannot read ${object}: no such file, and git has no such revision and path`)
	}
}

function parseContract(content: string, name: string): Source {
	const counter = new LineCounter()
	const parsed = parseDocument(content, { logLevel: 'silent', lineCounter: counter })
	const [fault] = parsed.errors
	if (fault) throw new ContractError(`${name} is not YAML or JSON: ${fault.message.split('\n')[0]}`)
	const document = toJson(parsed, name)
	if (!isObject(document)) throw new ContractError(`${name} is not an OpenAPI document`)
	const version = document.openapi
	if (typeof version !== 'string' || !version.startsWith('3.1.')) {
		throw new ContractError(`${name} is not OpenAPI 3.1 (openapi: ${JSON.stringify(version) ?? 'missing'})`)
	}
	return {
		name,
		document,
		positionOf(pointer) {
			const { line, col } = counter.linePos(offsetOf(parsed, pointer))
			return { line, column: col }
		},
	}
}

function toJson(parsed: Document, name: string) {
	try {
		return parsed.toJS()
	} catch (error) {
		throw new ContractError(`${name} is not YAML or JSON: ${(error as Error).message.split('\n')[0]}`)
	}
}

function offsetOf(parsed: Document, pointer: string): number {
	let node: Node | null = parsed.contents
	let offset = 0
	for (const part of pointer.split('/').slice(1)) {
		const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
		// Keys compare as text: a status is often written as a number.
		const pair = isMap(node) ? node.items.find((item) => isScalar(item.key) && String(item.key.value) === key) : undefined
		const next: unknown = pair ? pair.value : isSeq(node) ? node.items[Number(key)] : undefined
		const mark = (pair ? pair.key : next) as Node | null | undefined
		if (!mark) break
		offset = mark.range?.[0] ?? offset
		node = next as Node | null
	}
	return offset
}
