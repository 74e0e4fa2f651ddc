// The calls in a page, which the far end serves.
import { calls } from './calls.js'

globalThis.calls = (apiKey) => calls({ apiKey, baseUrl: location.origin, dangerouslyAllowBrowser: true })
