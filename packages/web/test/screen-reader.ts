// A page as a screen reader has it: by the roles and names of Chromium's accessibility tree, and nothing of what the page looks like.
import type { CDPSession, Page } from 'playwright-core'
import { vi } from 'vitest'

type Node = Awaited<ReturnType<typeof treeOf>>[number]
type Name = string | RegExp

const treeOf = async (session: CDPSession) => (await session.send('Accessibility.getFullAXTree')).nodes

/** How long a page may take until what is looked for is there. */
const patience = 15_000

/** Of too many to list. */
const quiet = new Set<unknown>(['InlineTextBox', 'option'])

export class ScreenReader {
	readonly #page: Page
	readonly #session: CDPSession

	private constructor(page: Page, session: CDPSession) {
		this.#page = page
		this.#session = session
	}

	static async on(page: Page): Promise<ScreenReader> {
		return new ScreenReader(page, await page.context().newCDPSession(page))
	}

	/** The one element of this role and name, inside the one that `within` finds; waits until it is there. */
	async find(role: string, name: Name, within?: readonly [role: string, name: Name]): Promise<Node> {
		return vi.waitFor(
			async () => {
				const nodes = await treeOf(this.#session)
				const found = nodes.filter((node) => is(node, role, name) && (!within || isIn(node, within, nodes)))
				if (found.length === 1) return found[0] as Node
				const heard = nodes.filter((node) => !node.ignored && node.name?.value && !quiet.has(node.role?.value)).map(spoken)
				throw new Error(`${found.length} of ${role} “${name}”; heard: ${heard.join(', ')}`)
			},
			{ timeout: patience, interval: 100 },
		)
	}

	/** What the screen reader's key for the usual action does: a press without a pointer. */
	async press(role: string, name: Name, within?: readonly [role: string, name: Name]): Promise<void> {
		await this.#call(await this.find(role, name, within), 'function () { this.focus(); this.click() }')
	}

	/** Goes to a field and types, in place of what is in it. */
	async type(role: string, name: Name, text: string, within?: readonly [role: string, name: Name]): Promise<void> {
		await this.#call(await this.find(role, name, within), 'function () { this.focus(); this.select?.() }')
		await this.#page.keyboard.type(text)
	}

	/** Where the person is. */
	async focused(): Promise<string> {
		const nodes = await treeOf(this.#session)
		const node = nodes.findLast(({ properties }) => properties?.some(({ name, value }) => name === 'focused' && value.value))
		return node ? spoken(node) : 'nothing'
	}

	async #call({ backendDOMNodeId }: Node, functionDeclaration: string): Promise<void> {
		const { object } = await this.#session.send('DOM.resolveNode', { backendNodeId: backendDOMNodeId as number })
		await this.#session.send('Runtime.callFunctionOn', { objectId: object.objectId as string, functionDeclaration })
	}
}

const spoken = ({ role, name }: Node) => `${role?.value} “${name?.value}”`

const is = (node: Node, role: string, name: Name) => {
	const value = String(node.name?.value ?? '')
	return !node.ignored && node.role?.value === role && (typeof name === 'string' ? value === name : name.test(value))
}

function isIn(node: Node, scope: readonly [role: string, name: Name], nodes: readonly Node[]): boolean {
	for (let at: Node | undefined = node; at; at = nodes.find(({ nodeId }) => nodeId === at?.parentId))
		if (is(at, ...scope)) return true
	return false
}
